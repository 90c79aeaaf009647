/* ngc_drafter.c - a drafter's life: what it is made of, and its text, which grows, is taken back, and
 * ends; see ngc_drafter.h. What it drafts stands in ngc_draft.c.
 */
#include "ngc_drafter.h"
#include "ngc_outlook.h"

#define USED_UP SIZE_MAX

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

ngc_status ngc_drafter_reserve(ngc_drafter *drafter, size_t n_more_tokens)
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
        status = ngc_drafter_reserve(drafter, n_tokens);
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
