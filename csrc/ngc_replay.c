/* ngc_replay.c - replays a text as llama-lookup-stats does, in slices; see ngc.h.
 *
 *     tokens  [ chunk 0 ........ | chunk 1 ........ | ... | rest ]
 *                         ^ drafter's text length within its chunk
 *
 * Only drafting and counting are timed; comparing, recording and checksums are not. Where probes are
 * recorded, drafting runs in its recorded form, whose time says nothing.
 */
#include "ngc_inside.h"

/* The end of a long chunk comes in slices of some 10 to 40 ms. Other chunks end in one go, and the
 * context cache is emptied in place, as llama.cpp's is. */
enum { LONG_CHUNK = 1 << 15, CLOSING_PAIRS = 1 << 13 };

/* A draft call while it is made. */
typedef struct one_call {
    int64_t draft_ns;
    int64_t update_ns;
    int32_t n_drafted;
    int32_t n_accept;
    size_t n_new; /* tokens to be counted after the draft; 0: no call is being made */
    size_t n_fed; /* those that are */
} one_call;

/* Values recorded since they were last taken. */
typedef struct record {
    void *values;
    size_t value_bytes;
    size_t length;
    size_t capacity;
    size_t taken;
} record;

struct ngc_replay {
    ngc_replay_options options;
    const int32_t *tokens;
    size_t n_tokens;
    ngc_drafter *drafter;
    ngc_cache *own_dynamic; /* NULL if it was lent */
    const ngc_cache *dynamic_cache;
    const ngc_cache *static_cache;
    size_t chunk_start;
    size_t chunk_length; /* 0: none is open */
    size_t length;       /* tokens of this chunk so far */
    one_call call;
    int32_t *drafted;
    ngc_allocator own;
    record drafts;
    record calls;
    record probes;
    ngc_recorder recorder;
    ngc_probe probe; /* of the call that is made */
    ngc_probe probe_sum;
    ngc_sample sample;
};

/* ---- making ---- */

/* The length of the chunk that starts at `start`, 0 if there is none. */
static size_t chunk_at(const ngc_replay *replay, size_t start)
{
    size_t left = replay->n_tokens - start;
    uint64_t n_ctx = (uint64_t)replay->options.n_ctx; /* may be more than a size_t holds */
    if (left > n_ctx) {
        return (size_t)n_ctx;
    }
    return replay->options.tail == NGC_TAIL_KEEP ? left : 0;
}

static ngc_status check_options(const ngc_replay_options *options)
{
    if (options->n_ctx < 1 || options->n_draft < 0 || options->n_draft > NGC_MAX_DRAFT ||
        options->tail < NGC_TAIL_KEEP || options->tail > NGC_TAIL_DROP || options->record < 0 ||
        options->record > (NGC_RECORD_DRAFTS | NGC_RECORD_CALLS | NGC_RECORD_PROBES)) {
        return NGC_BAD_ARGUMENT;
    }
    return NGC_OK;
}

static ngc_status set_up(ngc_replay *replay, const ngc_toggles *toggles, const ngc_rule *rule,
                         ngc_cache *dynamic_cache)
{
    ngc_status status = NGC_OK;
    if (dynamic_cache == NULL) {
        status = ngc_cache_new(toggles, 1, NGC_N_MAX, &replay->own_dynamic);
        dynamic_cache = replay->own_dynamic;
    }
    if (status == NGC_OK) {
        status = ngc_drafter_new(toggles, rule, replay->static_cache, dynamic_cache,
                                 &replay->drafter);
    }
    replay->dynamic_cache = dynamic_cache;
    replay->drafted = malloc(sizeof(int32_t) * (size_t)(replay->options.n_draft + 1));
    return status == NGC_OK && replay->drafted == NULL ? NGC_NO_MEMORY : status;
}

ngc_status ngc_replay_new(const ngc_toggles *toggles, const ngc_rule *rule,
                          const ngc_replay_options *options, const int32_t *tokens,
                          size_t n_tokens, const ngc_cache *static_cache,
                          ngc_cache *dynamic_cache, ngc_replay **out)
{
    *out = NULL;
    ngc_status status = check_options(options);
    if (status == NGC_OK) {
        status = ngc_check_tokens(tokens, n_tokens);
    }
    if (status != NGC_OK) {
        return status;
    }
    ngc_replay *replay = calloc(1, sizeof *replay);
    if (replay == NULL) {
        return NGC_NO_MEMORY;
    }
    replay->options = *options;
    replay->tokens = tokens;
    replay->n_tokens = n_tokens;
    replay->static_cache = static_cache;
    replay->drafts.value_bytes = sizeof(int32_t);
    replay->calls.value_bytes = sizeof(ngc_call);
    replay->probes.value_bytes = sizeof(ngc_probe);
    ngc_recorder_init(&replay->recorder, &replay->own, &replay->probe);
    replay->sample.n_tokens = (int64_t)n_tokens;
    replay->sample.drafts_checksum = UINT64_C(0xcbf29ce484222325);
    status = set_up(replay, toggles, rule, dynamic_cache);
    if (status != NGC_OK) {
        ngc_replay_free(replay);
        return status;
    }
    *out = replay;
    return NGC_OK;
}

void ngc_replay_free(ngc_replay *replay)
{
    if (replay == NULL) {
        return;
    }
    ngc_drafter_free(replay->drafter);
    ngc_cache_free(replay->own_dynamic);
    free(replay->drafted);
    free(replay->drafts.values);
    free(replay->calls.values);
    free(replay->probes.values);
    ngc_recorder_destroy(&replay->recorder);
    free(replay);
}

/* ---- recording ---- */

static ngc_status record_reserve(ngc_allocator *allocator, record *record, size_t n_more)
{
    if (record->taken == record->length) {
        record->taken = record->length = 0;
    }
    size_t needed = record->length + n_more;
    if (needed <= record->capacity) {
        return NGC_OK;
    }
    size_t capacity = needed + needed / 2 + 1024;
    void *values = ngc_grow(allocator, record->values, record->capacity * record->value_bytes,
                            capacity * record->value_bytes, NGC_KIND_OTHER);
    if (values == NULL) {
        return NGC_NO_MEMORY;
    }
    record->values = values;
    record->capacity = capacity;
    return NGC_OK;
}

/* Room for the next call is made before it, so that a failure leaves no call half recorded. */
static ngc_status reserve_records(ngc_replay *replay)
{
    ngc_status status = NGC_OK;
    if (replay->options.record & NGC_RECORD_DRAFTS) {
        status = record_reserve(&replay->own, &replay->drafts,
                                (size_t)replay->options.n_draft + 1);
    }
    if (status == NGC_OK && (replay->options.record & NGC_RECORD_CALLS)) {
        status = record_reserve(&replay->own, &replay->calls, 1);
    }
    if (status == NGC_OK && (replay->options.record & NGC_RECORD_PROBES)) {
        status = record_reserve(&replay->own, &replay->probes, 1);
    }
    return status;
}

static uint64_t checksum_add(uint64_t checksum, int32_t value)
{
    for (int shift = 0; shift < 32; shift += 8) {
        checksum ^= ((uint32_t)value >> shift) & 0xff;
        checksum *= UINT64_C(0x100000001b3);
    }
    return checksum;
}

static int32_t saturated(int64_t ns)
{
    return ns > INT32_MAX ? INT32_MAX : (int32_t)ns;
}

static void record_probe(ngc_replay *replay)
{
    replay->probe.n_accept = replay->call.n_accept;
    ((ngc_probe *)replay->probes.values)[replay->probes.length++] = replay->probe;
    ngc_probe_add(&replay->probe_sum, &replay->probe);
}

static void record_call(ngc_replay *replay)
{
    const one_call *call = &replay->call;
    ngc_sample *sample = &replay->sample;
    sample->n_replayed += (int64_t)call->n_new;
    sample->draft_ns += call->draft_ns;
    sample->update_ns += call->update_ns;
    sample->n_calls++;
    sample->n_drafted += call->n_drafted;
    sample->n_accept += call->n_accept;
    uint64_t checksum = checksum_add(sample->drafts_checksum, call->n_drafted);
    for (int32_t i = 0; i < call->n_drafted; i++) {
        checksum = checksum_add(checksum, replay->drafted[i]);
    }
    sample->drafts_checksum = checksum;
    if (replay->options.record & NGC_RECORD_DRAFTS) {
        int32_t *out = (int32_t *)replay->drafts.values + replay->drafts.length;
        out[0] = call->n_drafted;
        memcpy(out + 1, replay->drafted, sizeof(int32_t) * (size_t)call->n_drafted);
        replay->drafts.length += 1 + (size_t)call->n_drafted;
    }
    if (replay->options.record & NGC_RECORD_CALLS) {
        ngc_call *out = (ngc_call *)replay->calls.values + replay->calls.length++;
        *out = (ngc_call){saturated(call->draft_ns), saturated(call->update_ns),
                          call->n_drafted, call->n_accept};
    }
    if (replay->options.record & NGC_RECORD_PROBES) {
        record_probe(replay);
    }
}

/* ---- going on ---- */

/* The next chunk's first token is given; nothing is drafted for it. */
static ngc_status open_chunk(ngc_replay *replay)
{
    size_t length = chunk_at(replay, replay->chunk_start);
    if (length == 0) {
        replay->sample.done = 1;
        return NGC_OK;
    }
    size_t n_done;
    ngc_status status =
        ngc_drafter_feed(replay->drafter, replay->tokens + replay->chunk_start, 1, &n_done);
    if (status == NGC_OK) {
        replay->chunk_length = length;
        replay->length = 1;
        replay->sample.n_replayed++;
    }
    return status;
}

/* A slice of the chunk's end. */
static ngc_status close_chunk(ngc_replay *replay)
{
    int64_t before_ns = ngc_platform_clock_ns();
    int32_t done = 1; /* or it is settled */
    ngc_status status =
        replay->chunk_length < LONG_CHUNK
            ? ngc_drafter_end_text(replay->drafter)
            : ngc_drafter_end_text_slice(replay->drafter, CLOSING_PAIRS, &done);
    replay->sample.merge_ns += ngc_platform_clock_ns() - before_ns;
    replay->sample.closing = status == NGC_OK && !done;
    while (status != NGC_OK && !done) {
        ngc_replay_settle_slice(replay, SIZE_MAX, &done);
    }
    if (status != NGC_OK || !done) {
        return status;
    }
    replay->chunk_start += replay->chunk_length;
    replay->chunk_length = 0;
    replay->length = 0;
    replay->sample.done = chunk_at(replay, replay->chunk_start) == 0;
    return NGC_OK;
}

static ngc_status draft(ngc_replay *replay, int32_t n_draft, int32_t *n_drafted)
{
    if (!(replay->options.record & NGC_RECORD_PROBES)) {
        return ngc_drafter_draft(replay->drafter, n_draft, replay->drafted, n_drafted);
    }
    int32_t n_steps;
    ngc_status status = ngc_drafter_draft_recorded(replay->drafter, n_draft, NULL, &n_steps,
                                                   n_drafted, &replay->recorder);
    const int32_t *text = ngc_drafter_text_view(replay->drafter);
    if (*n_drafted > 0) {
        memcpy(replay->drafted, text + ngc_drafter_length(replay->drafter),
               sizeof *text * (size_t)*n_drafted);
    }
    return status;
}

/* Drafts, and sees how much of it the text bears out. */
static ngc_status begin_call(ngc_replay *replay)
{
    const int32_t *text = replay->tokens + replay->chunk_start + replay->length;
    size_t left = replay->chunk_length - replay->length;
    int32_t n_draft = replay->options.n_draft;
    if (replay->options.tail == NGC_TAIL_KEEP && (size_t)n_draft > left) {
        n_draft = (int32_t)left;
    }
    one_call call = {0, 0, 0, 0, 0, 0};
    int64_t start_ns = ngc_platform_clock_ns();
    ngc_status status = draft(replay, n_draft, &call.n_drafted);
    call.draft_ns = ngc_platform_clock_ns() - start_ns;
    if (status != NGC_OK) {
        return status;
    }
    size_t n_match = 0;
    while (n_match < (size_t)call.n_drafted && n_match < left &&
           replay->drafted[n_match] == text[n_match]) {
        n_match++;
    }
    call.n_accept = (int32_t)n_match;
    call.n_new = n_match < left ? n_match + 1 : n_match;
    replay->call = call;
    return NGC_OK;
}

/* One pass of the model: draft, accept what matches, take one token more. Where memory runs out
 * while those tokens are counted, the next try goes on with the same draft. */
static ngc_status make_call(ngc_replay *replay)
{
    one_call *call = &replay->call;
    if (call->n_new == 0) {
        ngc_status status = reserve_records(replay);
        if (status == NGC_OK) {
            status = begin_call(replay);
        }
        if (status != NGC_OK) {
            return status;
        }
    }
    size_t from = replay->chunk_start + replay->length + call->n_fed;
    size_t n_done;
    int64_t start_ns = ngc_platform_clock_ns();
    ngc_status status = ngc_drafter_feed(replay->drafter, replay->tokens + from,
                                         call->n_new - call->n_fed, &n_done);
    call->update_ns += ngc_platform_clock_ns() - start_ns;
    call->n_fed += n_done;
    if (status == NGC_OK) {
        record_call(replay);
        replay->length += call->n_new;
        call->n_new = 0;
    }
    return status;
}

static int64_t live_bytes(const ngc_cache *cache)
{
    return cache == NULL ? 0 : ngc_live_bytes(&cache->allocator) + cache->mapped_bytes;
}

static void fill_sample(ngc_replay *replay)
{
    ngc_sample *sample = &replay->sample;
    ngc_memory scratch;
    ngc_drafter_scratch_memory(replay->drafter, &scratch);
    sample->copied_bytes = scratch.total_bytes;
    sample->copied_allocations = scratch.allocations;
    sample->context_bytes = live_bytes(ngc_drafter_context_view(replay->drafter));
    sample->dynamic_bytes = live_bytes(replay->dynamic_cache);
    sample->static_bytes = live_bytes(replay->static_cache);
    sample->n_left_out = sample->done ? sample->n_tokens - sample->n_replayed : 0;
}

ngc_status ngc_replay_advance(ngc_replay *replay, int64_t max_tokens, int64_t max_ns,
                              ngc_sample *sample)
{
    int64_t start_ns = ngc_platform_clock_ns();
    int64_t start_tokens = replay->sample.n_replayed;
    ngc_status status = NGC_OK;
    while (status == NGC_OK && !replay->sample.done) {
        if (replay->chunk_length == 0) {
            status = open_chunk(replay);
        }
        if (status == NGC_OK && !replay->sample.done && replay->length < replay->chunk_length) {
            status = make_call(replay);
        }
        if (status == NGC_OK && !replay->sample.done && replay->length == replay->chunk_length) {
            status = close_chunk(replay);
        }
        if (max_tokens >= 0 && replay->sample.n_replayed - start_tokens >= max_tokens &&
            !replay->sample.closing) {
            break;
        }
        if (max_ns >= 0 && ngc_platform_clock_ns() - start_ns >= max_ns) {
            break;
        }
    }
    fill_sample(replay);
    *sample = replay->sample;
    return status;
}

void ngc_replay_settle_slice(ngc_replay *replay, size_t n_pairs, int32_t *done)
{
    ngc_drafter_settle_slice(replay->drafter, n_pairs, done);
    replay->sample.closing = !*done;
}

ngc_cache *ngc_replay_leftover(ngc_replay *replay)
{
    return ngc_drafter_leftover(replay->drafter);
}

/* ---- taking what was recorded ---- */

ngc_status ngc_replay_take_drafts(ngc_replay *replay, int32_t *buffer, size_t capacity,
                                  size_t *n_written)
{
    record *drafts = &replay->drafts;
    const int32_t *values = drafts->values;
    size_t end = drafts->taken;
    while (end < drafts->length && end + 1 + (size_t)values[end] - drafts->taken <= capacity) {
        end += 1 + (size_t)values[end];
    }
    *n_written = end - drafts->taken;
    if (*n_written == 0 && end < drafts->length) {
        return NGC_SMALL_BUFFER;
    }
    if (*n_written > 0) {
        memcpy(buffer, values + drafts->taken, *n_written * sizeof *buffer);
    }
    drafts->taken = end;
    return NGC_OK;
}

static size_t take(record *record, void *buffer, size_t capacity)
{
    size_t n = record->length - record->taken;
    n = n > capacity ? capacity : n;
    if (n > 0) {
        memcpy(buffer, (const uint8_t *)record->values + record->taken * record->value_bytes,
               n * record->value_bytes);
    }
    record->taken += n;
    return n;
}

ngc_status ngc_replay_take_calls(ngc_replay *replay, ngc_call *buffer, size_t capacity,
                                 size_t *n_written)
{
    *n_written = take(&replay->calls, buffer, capacity);
    return NGC_OK;
}

ngc_status ngc_replay_take_probes(ngc_replay *replay, ngc_probe *buffer, size_t capacity,
                                  size_t *n_written)
{
    *n_written = take(&replay->probes, buffer, capacity);
    return NGC_OK;
}

ngc_status ngc_replay_probe(const ngc_replay *replay, ngc_probe *sum)
{
    *sum = replay->probe_sum;
    return NGC_OK;
}

ngc_status ngc_replay_use_dynamic(ngc_replay *replay, ngc_cache *dynamic_cache)
{
    ngc_status status = ngc_drafter_use_dynamic(replay->drafter, dynamic_cache);
    if (status == NGC_OK) {
        ngc_cache_free(replay->own_dynamic);
        replay->own_dynamic = NULL;
        replay->dynamic_cache = dynamic_cache;
        fill_sample(replay);
    }
    return status;
}

const ngc_cache *ngc_replay_dynamic_view(const ngc_replay *replay)
{
    return replay->dynamic_cache;
}

void ngc_replay_fail_allocation(ngc_replay *replay, int64_t nth)
{
    replay->own.fail_in = nth;
    ngc_drafter_fail_allocation(replay->drafter, nth);
}

/* ---- the machine ---- */

int64_t ngc_clock_ns(void)
{
    return ngc_platform_clock_ns();
}

int64_t ngc_clock_cost_ns(void)
{
    enum { READINGS = 4096, ROUNDS = 5 };
    int64_t best = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t start = ngc_platform_clock_ns();
        int64_t end = start;
        for (int i = 0; i < READINGS; i++) {
            end = ngc_platform_clock_ns();
        }
        best = end - start < best ? end - start : best;
    }
    return (best + READINGS / 2) / READINGS;
}

const char *ngc_compiler(void)
{
    return ngc_platform_compiler();
}
