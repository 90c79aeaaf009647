/* ngc_draft.c - the numbers of the draft rule, and the loop that drafts several tokens by it, plain
 * and recorded.
 */
#include "ngc_drafter.h"
#include "ngc_inside.h"

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
    return ngc_drafter_reserve(drafter, (size_t)n_draft);
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
