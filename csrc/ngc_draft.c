/* ngc_draft.c - a drafter: one text, its context cache, and the loop that drafts several tokens.
 *
 *     text   [ tokens so far ........ | drafted in this call .. | room ]
 *                                     ^ length
 *
 * Drafted tokens are written behind the text while a call lasts, so that the rule reads one
 * array; they are not part of the text.
 */
#include "ngc_adding.h"
#include "ngc_inside.h"
#include "ngc_outlook.h"

#define USED_UP SIZE_MAX

struct ngc_drafter {
    ngc_toggles toggles;
    ngc_rule rule;
    uint8_t least[2][NGC_N_MAX]; /* outlooks; see ngc_outlook.h */
    const ngc_cache *static_cache;
    ngc_cache *dynamic_cache;
    ngc_cache *context;
    size_t buckets_at_start; /* of the context cache, for rewinding to the same order */
    ngc_cache *rewound; /* the context after the first n_rewound tokens, while rewinding goes on */
    size_t n_rewound;   /* USED_UP: it is done, and `rewound` what was the context before */
    ngc_cache *next_context; /* while the text ends in slices; NULL: it does not */
    ngc_adding adding;       /* to the dynamic cache, meanwhile */
    ngc_allocator scratch;   /* what copying at look-ups takes */
    ngc_allocator own;
    int32_t *text;
    size_t length_tokens;
    size_t capacity_tokens;
};

void ngc_rule_default(ngc_rule *rule)
{
    static const ngc_rule llama_cpp = {
        .n_min = 1,
        .n_max = NGC_N_MAX,
        .context_sum = {2, 2, 1, 1},
        .context_percent = {66, 50, 50, 50},
        .dynamic_sum = {4, 3, 2, 2},
        .dynamic_percent = {75, 66, 66, 66},
        .static_sum = 2,
        .static_percent = 50,
        .weight = 100,
        .use_context = 1,
        .eos = NGC_NO_TOKEN,
    };
    *rule = llama_cpp;
}

ngc_status ngc_check_rule(const ngc_rule *rule)
{
    enum { MOST = 1000000 };
    int good = rule->n_min >= 1 && rule->n_min <= rule->n_max && rule->n_max <= NGC_N_MAX;
    for (int i = 0; i < NGC_N_MAX; i++) {
        good = good && rule->context_sum[i] >= 0 && rule->context_sum[i] <= MOST;
        good = good && rule->dynamic_sum[i] >= 0 && rule->dynamic_sum[i] <= MOST;
        good = good && rule->context_percent[i] >= 0;
        good = good && rule->context_percent[i] <= NGC_MOST_PERCENT;
        good = good && rule->dynamic_percent[i] >= 0;
        good = good && rule->dynamic_percent[i] <= NGC_MOST_PERCENT;
    }
    good = good && rule->static_sum >= 0 && rule->static_sum <= MOST;
    good = good && rule->static_percent >= 0 && rule->static_percent <= NGC_MOST_PERCENT;
    good = good && rule->weight >= 0 && rule->weight <= MOST;
    good = good && rule->use_context >= 0 && rule->use_context <= 1;
    good = good && rule->eos >= NGC_NO_TOKEN && rule->eos < INT32_MAX;
    return good ? NGC_OK : NGC_BAD_ARGUMENT;
}

static int has_structure(const ngc_toggles *toggles, const ngc_cache *cache)
{
    return cache->operations->update != NULL && ngc_same_structure(toggles, &cache->toggles);
}

/* A cache that never changes goes with every structure of the others; "same" must be the same. */
static int can_be_static(const ngc_toggles *toggles, const ngc_cache *cache)
{
    return toggles->static_cache == NGC_STATIC_SAME
               ? has_structure(toggles, cache)
               : cache->operations->update == NULL &&
                     toggles->static_cache == cache->toggles.static_cache;
}

ngc_status ngc_drafter_new(const ngc_toggles *toggles, const ngc_rule *rule,
                           const ngc_cache *static_cache, ngc_cache *dynamic_cache,
                           ngc_drafter **out)
{
    *out = NULL;
    ngc_status status = ngc_check_toggles(toggles);
    if (status == NGC_OK) {
        status = ngc_check_rule(rule);
    }
    if (status != NGC_OK) {
        return status;
    }
    if ((static_cache != NULL && !can_be_static(toggles, static_cache)) ||
        (dynamic_cache != NULL && !has_structure(toggles, dynamic_cache))) {
        return NGC_UNSUPPORTED;
    }
    ngc_drafter *drafter = calloc(1, sizeof *drafter);
    if (drafter == NULL) {
        return NGC_NO_MEMORY;
    }
    status = ngc_cache_new(toggles, 1, NGC_N_MAX, &drafter->context);
    if (status != NGC_OK) {
        free(drafter);
        return status;
    }
    drafter->toggles = *toggles;
    drafter->rule = *rule;
    for (int i = 0; i < NGC_N_MAX; i++) {
        drafter->least[0][i] =
            (uint8_t)ngc_outlook_least(rule->context_sum[i], rule->context_percent[i]);
        drafter->least[1][i] =
            (uint8_t)ngc_outlook_least(rule->dynamic_sum[i], rule->dynamic_percent[i]);
    }
    drafter->static_cache = static_cache;
    drafter->dynamic_cache = dynamic_cache;
    drafter->buckets_at_start = 1;
    *out = drafter;
    return NGC_OK;
}

static void stop_ending(ngc_drafter *drafter);

void ngc_drafter_free(ngc_drafter *drafter)
{
    if (drafter == NULL) {
        return;
    }
    stop_ending(drafter);
    ngc_cache_free(ngc_drafter_leftover(drafter));
    ngc_cache_free(drafter->context);
    free(drafter->text);
    free(drafter);
}

/* ---- the text ---- */

static ngc_status reserve(ngc_drafter *drafter, size_t n_more_tokens)
{
    size_t needed = drafter->length_tokens + n_more_tokens;
    if (needed <= drafter->capacity_tokens) {
        return NGC_OK;
    }
    size_t capacity = drafter->capacity_tokens < 64 ? 64 : 2 * drafter->capacity_tokens;
    capacity = capacity < needed ? needed : capacity;
    int32_t *text = ngc_grow(&drafter->own, drafter->text, 4 * drafter->capacity_tokens,
                             4 * capacity, NGC_KIND_OTHER);
    if (text == NULL) {
        return NGC_NO_MEMORY;
    }
    drafter->text = text;
    drafter->capacity_tokens = capacity;
    return NGC_OK;
}

ngc_status ngc_drafter_feed(ngc_drafter *drafter, const int32_t *tokens, size_t n_tokens,
                            size_t *n_done)
{
    *n_done = 0;
    ngc_status status = ngc_check_tokens(tokens, n_tokens);
    if (status == NGC_OK) {
        status = reserve(drafter, n_tokens);
    }
    const ngc_cache_operations *operations = drafter->context->operations;
    ngc_cache_free(ngc_drafter_leftover(drafter));
    drafter->context->changes++;
    for (size_t i = 0; status == NGC_OK && i < n_tokens; i++) {
        drafter->text[drafter->length_tokens] = tokens[i];
        status = operations->update(drafter->context, drafter->text, drafter->length_tokens + 1, 1);
        if (status == NGC_OK) {
            drafter->length_tokens++;
            *n_done += 1;
        }
    }
    return status;
}

/* An empty context cache in the state in which this text began. */
static ngc_status fresh_context(const ngc_drafter *drafter, ngc_cache **out)
{
    ngc_status status = ngc_cache_new(&drafter->toggles, 1, NGC_N_MAX, out);
    if (status != NGC_OK) {
        return status;
    }
    (*out)->allocator.fail_in = drafter->context->allocator.fail_in; /* for tests */
    if (drafter->buckets_at_start > 1) {
        status = (*out)->operations->set_buckets(*out, drafter->buckets_at_start);
    }
    if (status != NGC_OK) {
        ngc_cache_free(*out);
        *out = NULL;
    }
    return status;
}

ngc_cache *ngc_drafter_leftover(ngc_drafter *drafter)
{
    ngc_cache *rewound = drafter->rewound;
    drafter->rewound = NULL;
    drafter->n_rewound = 0;
    return rewound;
}

ngc_status ngc_drafter_rewind_slice(ngc_drafter *drafter, size_t length_tokens, size_t n_tokens,
                                    int32_t *done)
{
    *done = 0;
    if (length_tokens > drafter->length_tokens) {
        return NGC_BAD_ARGUMENT;
    }
    ngc_status status = NGC_OK;
    if (drafter->n_rewound > length_tokens) {
        ngc_cache_free(ngc_drafter_leftover(drafter));
    }
    if (drafter->rewound == NULL && length_tokens < drafter->length_tokens) {
        status = fresh_context(drafter, &drafter->rewound);
    }
    if (drafter->rewound != NULL) {
        ngc_cache *context = drafter->rewound;
        for (n_tokens = n_tokens == 0 ? 1 : n_tokens;
             status == NGC_OK && n_tokens > 0 && drafter->n_rewound < length_tokens; n_tokens--) {
            status = context->operations->update(context, drafter->text, drafter->n_rewound + 1, 1);
            drafter->n_rewound += status == NGC_OK;
        }
    }
    if (status != NGC_OK) {
        ngc_cache_free(ngc_drafter_leftover(drafter));
        return status;
    }
    *done = length_tokens == drafter->length_tokens;
    if (drafter->rewound != NULL && drafter->n_rewound == length_tokens) {
        ngc_cache *before = drafter->context;
        drafter->context = drafter->rewound;
        drafter->length_tokens = length_tokens;
        drafter->rewound = before;
        drafter->n_rewound = USED_UP;
        *done = 1;
    }
    return NGC_OK;
}

ngc_status ngc_drafter_rewind(ngc_drafter *drafter, size_t length_tokens)
{
    int32_t done;
    ngc_cache_free(ngc_drafter_leftover(drafter));
    ngc_status status = ngc_drafter_rewind_slice(drafter, length_tokens, SIZE_MAX, &done);
    ngc_cache_free(ngc_drafter_leftover(drafter));
    return status;
}

/* ---- the end of the text ---- */

static void note_buckets(ngc_drafter *drafter)
{
    ngc_cache_facts facts;
    ngc_cache_facts_of(drafter->context, &facts);
    drafter->buckets_at_start = (size_t)facts.n_buckets;
}

ngc_status ngc_drafter_end_text(ngc_drafter *drafter)
{
    if (drafter->dynamic_cache != NULL) {
        ngc_status status = ngc_cache_merge(drafter->dynamic_cache, drafter->context);
        if (status != NGC_OK) {
            return status;
        }
    }
    ngc_cache_free(ngc_drafter_leftover(drafter));
    drafter->context->operations->clear(drafter->context);
    note_buckets(drafter);
    drafter->length_tokens = 0;
    return NGC_OK;
}

/* The next text's context is made first: when all is merged, nothing can fail any more. */
static ngc_status begin_ending(ngc_drafter *drafter)
{
    size_t buckets_before = drafter->buckets_at_start;
    ngc_status status = NGC_OK;
    ngc_cache_free(ngc_drafter_leftover(drafter));
    if (drafter->dynamic_cache != NULL) {
        status = ngc_adding_init_merge(&drafter->adding, drafter->dynamic_cache, drafter->context);
    }
    if (status == NGC_OK) {
        note_buckets(drafter);
        status = fresh_context(drafter, &drafter->next_context);
        drafter->buckets_at_start = buckets_before;
    }
    return status;
}

static void stop_ending(ngc_drafter *drafter)
{
    if (drafter->next_context != NULL && drafter->dynamic_cache != NULL) {
        ngc_adding_destroy(&drafter->adding);
    }
    ngc_cache_free(drafter->next_context);
    drafter->next_context = NULL;
}

static void swap_contexts(ngc_drafter *drafter)
{
    note_buckets(drafter);
    drafter->rewound = drafter->context;
    drafter->n_rewound = USED_UP;
    drafter->context = drafter->next_context;
    drafter->length_tokens = 0;
    if (drafter->dynamic_cache != NULL) {
        ngc_adding_destroy(&drafter->adding);
    }
    drafter->next_context = NULL;
}

ngc_status ngc_drafter_end_text_slice(ngc_drafter *drafter, size_t n_pairs, int32_t *done)
{
    ngc_status status = NGC_OK;
    *done = 0;
    if (drafter->next_context == NULL) {
        status = begin_ending(drafter);
    }
    int32_t merged = 1;
    if (status == NGC_OK && drafter->dynamic_cache != NULL) {
        status = ngc_adding_step(&drafter->adding, n_pairs, &merged);
    }
    if (status == NGC_OK && merged) {
        swap_contexts(drafter);
        *done = 1;
    }
    return status;
}

void ngc_drafter_settle_slice(ngc_drafter *drafter, size_t n_pairs, int32_t *done)
{
    *done = 1;
    if (drafter->next_context != NULL && drafter->dynamic_cache != NULL) {
        ngc_adding_turn_back(&drafter->adding);
        ngc_adding_step(&drafter->adding, n_pairs, done);
    }
    if (*done) {
        stop_ending(drafter);
    }
}

/* ---- drafting ---- */

static ngc_view view_of(ngc_drafter *drafter)
{
    ngc_view view = {
        .context = drafter->rule.use_context ? drafter->context : NULL,
        .dynamic_cache = drafter->dynamic_cache,
        .static_cache = drafter->static_cache,
        .rule = &drafter->rule,
        .toggles = &drafter->toggles,
        .least = drafter->least,
        .scratch = &drafter->scratch,
    };
    return view;
}

/* Checks, and makes room behind the text. */
static ngc_status begin_draft(ngc_drafter *drafter, int32_t n_draft)
{
    if (n_draft < 0 || n_draft > NGC_MAX_DRAFT) {
        return NGC_BAD_ARGUMENT;
    }
    return reserve(drafter, (size_t)n_draft);
}

ngc_status ngc_drafter_draft(ngc_drafter *drafter, int32_t n_draft, int32_t *tokens,
                             int32_t *n_drafted)
{
    *n_drafted = 0;
    ngc_status status = begin_draft(drafter, n_draft);
    if (status != NGC_OK || drafter->length_tokens < 2) {
        return status;
    }
    ngc_view view = view_of(drafter);
    const ngc_cache_operations *operations = drafter->context->operations;
    int32_t *drafted = drafter->text + drafter->length_tokens;
    for (int32_t i = 0; i < n_draft; i++) {
        ngc_pick pick;
        status = operations->pick[drafter->toggles.static_cache](
            &view, drafter->text, drafter->length_tokens + (size_t)i, &pick);
        if (status != NGC_OK || pick.token == NGC_NO_TOKEN) {
            break;
        }
        drafted[i] = pick.token;
        tokens[i] = pick.token;
        *n_drafted = i + 1;
        if (pick.token == drafter->rule.eos) {
            break;
        }
    }
    if (status != NGC_OK) {
        *n_drafted = 0;
    }
    return status;
}

static void begin_step(ngc_step *step, size_t length_tokens)
{
    memset(step, 0, sizeof *step);
    step->length_tokens = (int64_t)length_tokens;
    step->token = NGC_NO_TOKEN;
}

/* One step; with `step` its rows, too. */
static ngc_status pick_recorded(ngc_drafter *drafter, int32_t n_drafted, ngc_pick *pick,
                                ngc_step *step, ngc_recorder *recorder)
{
    ngc_view view = view_of(drafter);
    size_t length_tokens = drafter->length_tokens + (size_t)n_drafted;
    recorder->step = step;
    recorder->n_drafted = n_drafted;
    if (step != NULL) {
        begin_step(step, length_tokens);
    }
    ngc_status status =
        drafter->context->operations->pick_recorded[drafter->toggles.static_cache](
            &view, drafter->text, length_tokens, pick, recorder);
    if (status == NGC_OK && recorder->failed) {
        status = NGC_NO_MEMORY;
    }
    if (status == NGC_OK && step != NULL) {
        step->token = pick->token;
        step->from = pick->from;
        step->n = pick->n;
    }
    return status;
}

ngc_status ngc_drafter_draft_recorded(ngc_drafter *drafter, int32_t n_draft, ngc_step *steps,
                                      int32_t *n_steps, int32_t *n_drafted,
                                      ngc_recorder *recorder)
{
    *n_steps = 0;
    *n_drafted = 0;
    ngc_recorder_begin(recorder);
    ngc_status status = begin_draft(drafter, n_draft);
    if (status != NGC_OK || drafter->length_tokens < 2) {
        return status;
    }
    int64_t copied_bytes = drafter->scratch.allocated_bytes;
    int64_t allocations = drafter->scratch.allocations;
    int32_t *drafted = drafter->text + drafter->length_tokens;
    for (int32_t i = 0; i < n_draft; i++) {
        ngc_pick pick;
        status = pick_recorded(drafter, i, &pick, steps == NULL ? NULL : &steps[i], recorder);
        if (status != NGC_OK) {
            *n_steps = 0;
            *n_drafted = 0;
            break;
        }
        *n_steps = i + 1;
        if (pick.token == NGC_NO_TOKEN) {
            break;
        }
        drafted[i] = pick.token;
        *n_drafted = i + 1;
        if (pick.token == drafter->rule.eos) {
            break;
        }
    }
    recorder->probe->n_drafted = *n_drafted;
    recorder->probe->copied_bytes = drafter->scratch.allocated_bytes - copied_bytes;
    recorder->probe->allocations = drafter->scratch.allocations - allocations;
    return status;
}

ngc_status ngc_drafter_trace(ngc_drafter *drafter, int32_t n_draft, ngc_step *steps,
                             int32_t *n_steps, ngc_probe *probe)
{
    int32_t n_drafted;
    ngc_recorder recorder;
    ngc_recorder_init(&recorder, &drafter->own, probe);
    ngc_status status =
        ngc_drafter_draft_recorded(drafter, n_draft, steps, n_steps, &n_drafted, &recorder);
    ngc_recorder_destroy(&recorder);
    return status;
}

ngc_status ngc_drafter_touches(ngc_drafter *drafter, int32_t n_draft, ngc_touch *touches,
                               size_t capacity, size_t *n_touches, ngc_probe *probe)
{
    int32_t n_steps, n_drafted;
    ngc_recorder recorder;
    ngc_recorder_init(&recorder, &drafter->own, probe);
    recorder.touches = touches;
    recorder.capacity = capacity;
    ngc_status status =
        ngc_drafter_draft_recorded(drafter, n_draft, NULL, &n_steps, &n_drafted, &recorder);
    *n_touches = status == NGC_OK ? recorder.n_touches : 0;
    ngc_recorder_destroy(&recorder);
    return status;
}

/* ---- looking ---- */

ngc_status ngc_drafter_use_dynamic(ngc_drafter *drafter, ngc_cache *dynamic_cache)
{
    if (!has_structure(&drafter->toggles, dynamic_cache)) {
        return NGC_UNSUPPORTED;
    }
    drafter->dynamic_cache = dynamic_cache;
    return NGC_OK;
}

size_t ngc_drafter_length(const ngc_drafter *drafter)
{
    return drafter->length_tokens;
}

const int32_t *ngc_drafter_text_view(const ngc_drafter *drafter)
{
    return drafter->text;
}

const ngc_cache *ngc_drafter_context_view(const ngc_drafter *drafter)
{
    return drafter->context;
}

ngc_status ngc_drafter_scratch_memory(const ngc_drafter *drafter, ngc_memory *memory)
{
    ngc_memory_of(&drafter->scratch, memory);
    return NGC_OK;
}

void ngc_drafter_fail_allocation(ngc_drafter *drafter, int64_t nth)
{
    drafter->scratch.fail_in = nth;
    drafter->own.fail_in = nth;
    drafter->context->allocator.fail_in = nth;
}
