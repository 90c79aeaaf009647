/* ngc_instance_template.h - template: the table of operations of one kind of cache, and its
 * constructor. Included last; see ngc_chained.c.
 */

static ngc_status C(pick_plain)(const ngc_view *view, const int32_t *text, size_t length_tokens,
                                ngc_pick *pick)
{
    return C(pick_0)(view, text, length_tokens, pick, NULL, NULL);
}

static const ngc_cache_operations C(operations) = {
    .destroy = C(destroy),
    .clear = C(clear),
    .set_buckets = C(set_buckets),
    .update = C(update),
    .merge = C(merge),
    .insert = C(insert),
    .followers = C(followers),
    .facts = C(facts),
    .walk = C(walk),
    .save = C(save),
    .broken = C(broken),
    .pick = C(pick_plain),
    .pick_recorded = C(pick_1),
};

ngc_status NGC_PASTE(ngc_, NGC_PAIR(OUTER, FOLLOWERS), _, new)(const ngc_toggles *toggles,
                                                               int32_t n_min, int32_t n_max,
                                                               ngc_cache **out)
{
    CACHE_T *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NGC_NO_MEMORY;
    }
    self->head.operations = &C(operations);
    self->head.toggles = *toggles;
    self->head.n_min = n_min;
    self->head.n_max = n_max;
    T(init)(&self->table);
    *out = &self->head;
    return NGC_OK;
}
