import { z } from 'zod';
import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { type Message, messageSchema } from '../../../machines/contracts/message.ts';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import type { PriceTable } from '../../../machines/contracts/usage.ts';

import { isPhase } from '../../../machines/policies/phase-selection.ts';
import { describeValue, invalidOption, requireSignal } from '../../internal/options.ts';
import { type ChainParts, noPassages } from './actors.ts';
import { kindOf } from './decider.ts';

/** An earlier turn that a request builds on. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface RunOptions {
  readonly request: string;
  /** Earlier turns, the oldest first. A user's turn is never shortened or dropped without consent. */
  readonly history?: readonly Turn[];
  /** Messages to begin with in place of `history`: the context of an earlier run, say, with something undone. */
  readonly messages?: readonly Message[];
  /** Automatic: the chart decides where to go on. Manual: where no rule ends the run, it asks, and waits for the user's word. */
  readonly mode?: 'automatic' | 'manual';
  /** The phase to begin with; Action by default. */
  readonly startAt?: Phase;
  /**
   * The session that the request belongs to: it is given the session's newest turns, and becomes one itself. At most 200 characters,
   * none of them a control character. A request without one is by itself.
   */
  readonly sessionId?: string;
  /** What the program that starts the run wants to know of it later: JSON, which the journal keeps. */
  readonly host?: Readonly<Record<string, z.core.util.JSONType>>;
  /** Aborting interrupts the run: it still answers, degraded. */
  readonly signal?: AbortSignal;
}

const KNOWN: ReadonlySet<string> = new Set<keyof RunOptions>([
  'request',
  'history',
  'messages',
  'mode',
  'startAt',
  'sessionId',
  'host',
  'signal',
]);

const MAX_REQUEST_CHARS = 1_000_000;
const MAX_SESSION_ID_CHARS = 200;

type CheckedRun = Required<Omit<RunOptions, 'signal' | 'messages' | 'sessionId' | 'host'>> & {
  readonly messages: readonly Message[] | undefined;
  readonly sessionId: string | null;
};

/** The request, checked before anything starts. Throws `invalid_request` or `invalid_option`. */
export function readRun(options: RunOptions): CheckedRun {
  const { request, history = [], messages, mode = 'automatic', startAt = 'action' } = options ?? {};
  if (typeof request !== 'string' || request.trim() === '')
    throw new PostChainError(
      'invalid_request',
      `The request is ${typeof request === 'string' ? 'empty' : `no text (${typeof request})`}: wanted a question or a task in words.`,
    );
  if (request.length > MAX_REQUEST_CHARS)
    throw new PostChainError(
      'invalid_request',
      `The request has ${request.length} characters: wanted at most ${MAX_REQUEST_CHARS}; give long material as documents.`,
    );
  requireKnown(options, KNOWN, 'a run');
  if (!Array.isArray(history))
    throw new PostChainError('invalid_option', `history: got ${describeValue(history)}; wanted a list of turns.`);
  if (mode !== 'automatic' && mode !== 'manual')
    throw new PostChainError('invalid_option', `mode: got ${describeValue(mode)}; wanted "automatic" or "manual".`);
  requireSignal(options.signal);
  if (options.host !== undefined) checkHost(options.host);
  for (const [index, turn] of history.entries())
    if (!(turn?.role === 'user' || turn?.role === 'assistant') || typeof turn.content !== 'string')
      throw new PostChainError(
        'invalid_option',
        `history.${index}: got ${describeValue(turn)}; wanted a role (user or assistant) and a content in words.`,
      );
  if (messages !== undefined) checkMessages(messages);
  if (messages !== undefined && history.length > 0)
    throw new PostChainError('invalid_option', 'history and messages: got both; wanted one of them.');
  return { request, history, messages, mode, startAt: readPhase(startAt), sessionId: readSessionId(options.sessionId) };
}

const hostSchema = z.object({ host: z.record(z.string(), z.json()) });

function checkHost(host: unknown): void {
  const read = hostSchema.safeParse({ host });
  if (!read.success) throw invalidOption('host', { host }, read.error, hostSchema);
}

/** Unknown names are refused: a misspelt option would silently do nothing. Throws `invalid_option`. */
export function requireKnown(options: object, known: ReadonlySet<string>, what: string): void {
  const unknown = Object.keys(options).find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new PostChainError(
      'invalid_option',
      `${unknown}: there is no such option of ${what}; wanted one of ${[...known].join(', ')}.`,
    );
}

const messagesSchema = z.object({ messages: z.array(messageSchema) });

function checkMessages(messages: readonly Message[]): void {
  const read = messagesSchema.safeParse({ messages });
  if (!read.success) throw invalidOption('messages', { messages }, read.error, messagesSchema);
  const seen = new Set<string>();
  for (const { id } of messages) {
    if (seen.has(id))
      throw new PostChainError(
        'invalid_option',
        `messages: got the id ${describeValue(id)} twice; wanted ids that differ.`,
      );
    seen.add(id);
  }
}

/** Null for a request by itself. Throws `invalid_option` for what is no id of a session. */
export function readSessionId(id: unknown): string | null {
  if (id === undefined) return null;
  const fits = typeof id === 'string' && id.trim() !== '' && id.length <= MAX_SESSION_ID_CHARS;
  // Half of a surrogate pair is no character: it could not be told from another one in a file.
  if (fits && !/[\p{Cc}\p{Cs}]/u.test(id)) return id;
  throw new PostChainError(
    'invalid_option',
    `sessionId: got ${describeValue(id)}; wanted 1 to ${MAX_SESSION_ID_CHARS} characters, not all blank, none a control character.`,
  );
}

/** A phase by its name. Throws `invalid_option`, which lists them. */
export function readPhase(name: string): Phase {
  if (isPhase(name)) return name;
  throw new PostChainError(
    'invalid_option',
    `There is no phase ${describeValue(name)}: choose one of ${PHASES.join(', ')}.`,
  );
}

/** Earlier turns as the messages that a run begins with. */
export function messagesOf(history: readonly Turn[], createdAtMs: number): readonly Message[] {
  return history.map(({ role, content }, index) => ({
    id: `h${index + 1}`,
    role,
    phase: null,
    content,
    createdAtMs,
    cycle: 1,
    tags: [],
    importance: role === 'user' ? 1 : 0.5,
    links: [],
    references: [],
    source: null,
  }));
}

export function inputOf(run: RunOptions, parts: ChainParts): ChainInput {
  const { clock, models, capabilities, decider, passages, embeddings, prices, limits, thresholds } = parts;
  const { request, history, messages, mode, startAt, sessionId } = readRun(run);
  const startedAtMs = clock.now();
  if (!Number.isFinite(startedAtMs) || Math.abs(startedAtMs) > MAX_TIME_MS)
    throw new PostChainError(
      'invalid_option',
      `clock: its now() gave ${startedAtMs}; wanted milliseconds since the epoch.`,
    );
  return {
    limits,
    thresholds,
    runId: parts.newRunId(),
    request,
    origin: startAt,
    mode,
    startedAtMs,
    contextWindowTokens: Math.min(...models.map((model) => model.contextWindowTokens)),
    fallbackModels: models.length - 1,
    capabilities: capabilities.descriptors,
    decider: kindOf(decider),
    sessionId,
    ...pricesOf(models, prices),
    hasDocuments: passages !== noPassages,
    hasEmbeddings: embeddings !== null,
    messages: messages ?? messagesOf(history, startedAtMs),
  };
}

/** What each model costs, as far as the table says. */
function pricesOf(models: ChainParts['models'], table: PriceTable | null): Pick<ChainInput, 'prices' | 'currency'> {
  if (table === null) return { prices: [], currency: null };
  const { models: priced, currency } = table;
  return { prices: models.map(({ id }) => (Object.hasOwn(priced, id) ? (priced[id] ?? null) : null)), currency };
}

/** The latest time that a date can hold. */
const MAX_TIME_MS = 8.64e15;
