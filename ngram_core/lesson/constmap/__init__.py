"""Plain models of lesson 07: a fuse map built and asked, the bytes of cache files, loading."""
