import type { AttemptPolicy, CallInFlight, CallProgress, Reply } from '../contracts/attempt.ts';
import type { Failure } from '../contracts/failure.ts';
import { type ModelChange, type ModelStatus, NEW_MODEL, PROSE_FORM } from '../contracts/model-status.ts';
import { TASKS } from '../contracts/phase.ts';
import { failureOf } from './failures.ts';

export interface ModelRoute {
  readonly task: string;
  readonly models: readonly ModelStatus[];
  readonly model: number;
  /** The indexes of the models that another one took over from, in order. */
  readonly gaveUp: readonly number[];
}

type Rules = Pick<AttemptPolicy, 'maxHungCalls' | 'triesReplyForms'>;

/** Whether the model has replied in JSON in no reply form. */
function isProseOnly({ form, repliesInJson }: ModelStatus): boolean {
  return form === PROSE_FORM && !repliesInJson;
}

/** A hanging model is probed after this many attempts without it; each failed probe doubles the number. */
const PROBE_AFTER = 8;

/**
 * Whether the model may be called. A circuit breaker: it opens after `maxHungCalls` hung calls in a row, and is half open, for
 * one call, after enough attempts without the model.
 *
 * @see https://martinfowler.com/bliki/CircuitBreaker.html
 */
export function isAvailable({ hungCalls, passedOver }: ModelStatus, { maxHungCalls }: Rules): boolean {
  return hungCalls < maxHungCalls || passedOver >= PROBE_AFTER * 2 ** (hungCalls - maxHungCalls);
}

/** Tasks without a main text field, whose reply prose cannot replace. */
const STRUCTURED_TASKS: ReadonlySet<string> = new Set(['continuation', 'summary', 'value']);
const PROSE_TASKS: ReadonlySet<string> = new Set(TASKS.filter((task) => !STRUCTURED_TASKS.has(task)));

/**
 * Returns the index of the first available model that was not given up, or null. Models that answer in prose come last, and
 * may be used again after they were given up.
 */
function nextModel({ task, models, gaveUp }: Omit<ModelRoute, 'model'>, rules: Rules): number | null {
  const available = models.flatMap((status, model) => (isAvailable(status, rules) ? [{ status, model }] : []));
  const inJson = available.find(({ status, model }) => !isProseOnly(status) && !gaveUp.includes(model));
  if (inJson !== undefined) return inJson.model;
  if (!PROSE_TASKS.has(task)) return null;
  const inProse = available.find(({ status, model }) => isProseOnly(status) && mayReturnTo(model, gaveUp));
  return inProse?.model ?? null;
}

function mayReturnTo(model: number, gaveUp: readonly number[]): boolean {
  return gaveUp.at(-1) !== model && gaveUp.filter((one) => one === model).length < 2;
}

export function successor(route: ModelRoute, rules: Rules): number | null {
  return nextModel({ ...route, gaveUp: [...route.gaveUp, route.model] }, rules);
}

/** Returns the route at the start of an attempt, without models that hang. `model` is null if none is left. Unchanged models stay the same array. */
export function startRoute(
  task: string,
  models: readonly ModelStatus[],
  rules: Rules,
): Pick<ModelRoute, 'models' | 'gaveUp'> & { readonly model: number | null } {
  return {
    model: nextModel({ task, models, gaveUp: [] }, rules),
    models: models.every((status) => isAvailable(status, rules))
      ? models
      : models.map((status) =>
          isAvailable(status, rules) ? status : { ...status, passedOver: status.passedOver + 1 },
        ),
    gaveUp: [],
  };
}

export function noModelFailure({ task, models }: Pick<ModelRoute, 'task' | 'models'>): Failure {
  if (models.some(isProseOnly))
    return failureOf(
      'extraction',
      'prose_only',
      `The model answers in prose, which cannot stand for the reply to "${task}"; ${PROSE_REMEDY}.`,
      { retryable: false },
    );
  return failureOf(
    'transport',
    'model_unavailable',
    'No model was called, because every model hung in earlier calls.',
    {
      retryable: false,
    },
  );
}

/** Failures of calls that were not made: no model was left, or the model does not accept the files. */
const NOT_MADE: ReadonlySet<unknown> = new Set(['model_unavailable', 'prose_only', 'unsupported_file', 'over_budget']);

export const wasNotMade = (failure: Failure | null): boolean => NOT_MADE.has(failure?.code);

export const PROSE_REMEDY =
  'use another model, or add a fallback model (fallbackModels, or --fallback-model on the command line)';

/** Whether prose could stand for the reply: the task has a main text field, and no other model may reply in JSON. */
function proseFits(route: ModelRoute, rules: Rules): boolean {
  const next = successor(route, rules);
  return PROSE_TASKS.has(route.task) && (next === null || isProseOnly(statusOf(route, next)));
}

/** Whether the current model may give a usable reply: JSON, or prose if that is enough. */
export function fitsTask(route: ModelRoute, rules: Rules): boolean {
  return !isProseOnly(statusOf(route)) || proseFits(route, rules);
}

/** Whether the next reply may be prose instead of JSON, because no reply form or correction is left to try. */
export function mayBeProse(route: ModelRoute, corrections: number, policy: AttemptPolicy): boolean {
  const { form, repliesInJson } = statusOf(route);
  const isLastTry = corrections >= policy.maxCorrections || (form >= PROSE_FORM - 1 && !repliesInJson);
  return policy.triesReplyForms && isLastTry && proseFits(route, policy);
}

export function statusOf({ models, model: current }: ModelRoute, model = current): ModelStatus {
  return models[model] ?? NEW_MODEL;
}

/** Failures of a reply that contains no JSON in the requested form. */
const WITHOUT_JSON: ReadonlySet<string> = new Set(['no_json', 'no_tool_call', 'form_rejected']);

export function lacksJson({ stage, code }: Failure): boolean {
  return stage === 'extraction' && WITHOUT_JSON.has(code);
}

/** HTTP statuses that concern the caller, not the request. */
const ABOUT_CALLER: ReadonlySet<unknown> = new Set([401, 402, 403]);

/**
 * Returns the failure of a call. If the server rejects a reply form that the run chose by itself, the failure becomes
 * `form_rejected`, which is retried in another form.
 */
export function formFailure(failure: Failure, { form }: ModelStatus): Failure {
  const { stage, code, retryable, status } = failure;
  const isRejection = status !== null && status >= 400 && status < 500 && !ABOUT_CALLER.has(status);
  const isAboutForm = code === 'tools_unsupported' || (isRejection && code !== 'prompt_too_long');
  if (form === 0 || form === PROSE_FORM || stage !== 'transport' || retryable || !isAboutForm) return failure;
  return { ...failure, stage: 'extraction', code: 'form_rejected', retryable: true };
}

const HUNG: ReadonlySet<string> = new Set(['no_reply', 'stalled']);

interface Ended {
  /** The reply, if it was read to its end. */
  readonly reply: Reply | null;
  /** Null if no byte has arrived. */
  readonly progress: CallProgress | null;
  readonly failure: Failure | null;
}

/** Returns a model's status after one more call: the same object if nothing changed. */
export function learnFrom(status: ModelStatus, ended: Ended, rules: Rules): ModelStatus {
  const learned = statusAfter(status, ended, rules);
  const names = Object.keys(learned) as (keyof ModelStatus)[];
  return names.every((name) => learned[name] === status[name]) ? status : learned;
}

function statusAfter(
  status: ModelStatus,
  { reply, progress, failure }: Ended,
  { triesReplyForms }: Rules,
): ModelStatus {
  const isLate = failure?.stage === 'deadline';
  if (isLate ? progress === null && reply === null : failure?.stage === 'transport' && HUNG.has(failure.code))
    return { ...status, hungCalls: status.hungCalls + 1, passedOver: 0 };
  if (isLate || wasNotMade(failure) || failure?.code === 'prompt_too_long') return status;
  const alive = { ...status, hungCalls: 0, passedOver: 0 };
  if (reply === null) return alive;
  const isIgnored = reply.ignoresSchema === true && failure !== null && !status.repliesInJson;
  if (!triesReplyForms) return isIgnored && status.form === 0 ? { ...alive, form: 1 } : alive;
  if (reply.prose) return status.repliesInJson ? alive : { ...alive, form: PROSE_FORM };
  if (reply.failure === null && !isIgnored) return { ...alive, repliesInJson: true };
  const triesNext = failure !== null && (isIgnored || lacksJson(failure)) && !status.repliesInJson;
  return triesNext ? { ...alive, form: Math.min(PROSE_FORM, status.form + 1) } : alive;
}

/**
 * Whether the next call only moves a schema, which the server ignored as a parameter, to the prompt. This does not count as a correction if
 * all forms are tried: otherwise, no correction would be left for the last form.
 */
export function retriesForm(
  before: ModelStatus,
  { reply, policy, ...route }: ModelRoute & { readonly reply: Reply | null; readonly policy: AttemptPolicy },
): boolean {
  return policy.triesReplyForms && reply?.ignoresSchema === true && before.form !== statusOf(route).form;
}

export function modelChange(before: ModelStatus, after: ModelStatus, { maxHungCalls }: Rules): ModelChange | null {
  const [hung, hangs] = [before.hungCalls >= maxHungCalls, after.hungCalls >= maxHungCalls];
  if (hung !== hangs) return hangs ? 'unavailable' : 'available';
  if (isProseOnly(before) !== isProseOnly(after)) return isProseOnly(after) ? 'prose' : 'json';
  if (before.form !== after.form) return 'without_json';
  return after.form > 0 && before.repliesInJson !== after.repliesInJson ? 'json' : null;
}

/** Returns the statuses with which the next run starts: only reply forms that work in place of the configured one; null if there are none. */
export function workingForms(models: readonly ModelStatus[]): readonly ModelStatus[] | null {
  const works = ({ form, repliesInJson }: ModelStatus): boolean => repliesInJson && form > 0 && form < PROSE_FORM;
  if (!models.some(works)) return null;
  return models.map((status) => (works(status) ? { ...NEW_MODEL, form: status.form, repliesInJson: true } : NEW_MODEL));
}

/** Returns the statuses after a call in flight was aborted at its deadline. A call without a single byte has hung. */
export function withAborted(models: readonly ModelStatus[], call: CallInFlight | null): readonly ModelStatus[] {
  const status = call === null || call.isAlive ? undefined : models[call.model];
  if (call === null || status === undefined) return models;
  return models.with(call.model, { ...status, hungCalls: status.hungCalls + 1, passedOver: 0 });
}
