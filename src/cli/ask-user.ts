import { createInterface, type Interface } from 'node:readline';
import wrapAnsi from 'wrap-ansi';
import type { ConsentChoice, ConsentRequest } from '../../machines/contracts/context.ts';
import type { CallApprovalGiven, ChainEvent } from '../../machines/contracts/events.ts';
import { PHASES } from '../../machines/contracts/phase.ts';
import type { ApprovalAsked } from '../../machines/policies/questions.ts';
import { recommendedChoice } from '../../machines/policies/questions.ts';
import { safeJson } from '../../machines/text/safe-json.ts';
import { onAbort } from '../internal/async.ts';
import { parseJson } from '../internal/json-text.ts';
import { count, grouped, oneLine } from '../internal/printable.ts';
import { type Colors, colorsFor, createScreen, type Screen, type StandardStreams } from './screen.ts';

/** An answer of the user, without the id of the question. */
export type UserReply = WithoutQuestion<Extract<ChainEvent, { type: `run.${string}` | 'consent.given' }>>;

type WithoutQuestion<Event> = Event extends unknown ? Omit<Event, 'questionId'> : never;

/** A decision about one call, without the question that it answers. */
type ApprovalReply = Pick<CallApprovalGiven, 'decision' | 'arguments' | 'reason' | 'by'>;

/** Answers the questions of a run. A reply of null means that the run no longer waits for it. */
export interface Answerer {
  consent(request: ConsentRequest, signal: AbortSignal, waitMs: number): Promise<UserReply | null>;
  direction(proposal: string, signal: AbortSignal): Promise<UserReply | null>;
  approval(asked: ApprovalAsked, signal: AbortSignal): Promise<ApprovalReply | null>;
  close(): void;
}

/** Flags that answer questions. `inspect`: the inspector's page answers too. */
interface AnswerFlags {
  readonly consent?: ConsentChoice;
  readonly approve?: 'always' | 'never';
  readonly inspect?: boolean;
}

/**
 * Returns what answers the questions of a run: the user at a terminal, otherwise `lineAnswerer`. The flags `consent` and `approve` replace its
 * answers. A quiet run keeps messages and denies calls without asking, unless the inspector's page answers.
 */
export function answererFor(
  { consent, approve, inspect = false }: AnswerFlags,
  quiet: boolean,
  terminal: Terminal,
): Answerer {
  const isInteractive = terminal.input.isTTY && terminal.out.isTTY;
  const usesDefaults = quiet && (isInteractive || !inspect);
  const answerer = isInteractive ? terminalAnswerer(terminal) : lineAnswerer(terminal, inspect);
  if (consent !== undefined) answerer.consent = async () => ({ type: 'consent.given', choice: consent, by: 'option' });
  else if (usesDefaults) answerer.consent = async () => ({ type: 'consent.given', choice: 'keep', by: 'default' });
  if (approve !== undefined) {
    const decision = approve === 'always' ? 'approve' : 'deny';
    answerer.approval = async () => ({ decision, reason: `the option --approve ${approve}`, by: 'program' });
  } else if (usesDefaults) answerer.approval = async () => NOBODY_ASKED;
  return answerer;
}

function terminalAnswerer(terminal: Terminal): Answerer {
  return {
    consent: (request, signal, waitMs) => askConsent(request, terminal, signal, waitMs),
    direction: (proposal, signal) => askDirection(proposal, terminal, signal),
    approval: (asked, signal) => askApproval(asked, terminal, signal),
    close: () => {},
  };
}

/**
 * Returns an answerer that reads directions as lines of an input, whose end means "finish". Consent is always "keep", and calls that need
 * approval are denied. With a page that answers too, it leaves consent, approvals, and directions after the end of the input, to the page.
 */
function lineAnswerer({ input, out }: Terminal, hasPage: boolean): Answerer {
  let reader: Interface | null = null;
  let lines: AsyncIterator<string> | null = null;
  return {
    consent: async () => (hasPage ? null : { type: 'consent.given', choice: 'keep', by: 'default' }),
    approval: async () => (hasPage ? null : NOBODY_ASKED),
    async direction(proposal) {
      reader ??= createInterface({ input, terminal: false });
      lines ??= reader[Symbol.asyncIterator]();
      // Piped input is not echoed, so the prompt ends its own line.
      out.write(`  Next phase (${DIRECTIONS.join(', ')}) [${oneLine(proposal)}]:${input.isTTY ? ' ' : '\n'}`);
      const { value, done } = await lines.next();
      if (done && hasPage) return null;
      return directionEvent(done ? 'finish' : value.trim() || proposal);
    },
    close: () => reader?.close(),
  };
}

/** The decision about a call when nobody can be asked. */
export const NOBODY_ASKED: ApprovalReply = {
  decision: 'deny',
  reason: 'nobody could be asked; see --approve',
  by: 'program',
};

const APPROVAL: SelectOptions<'deny' | 'explain' | 'approve' | 'edit'> = {
  text: 'Allow this call?',
  choices: [
    { value: 'deny', label: 'deny' },
    { value: 'explain', label: 'deny with a reason' },
    { value: 'approve', label: 'approve' },
    { value: 'edit', label: 'edit the arguments and approve' },
  ],
  initial: 'deny',
  onEscape: 'deny',
};

/** The prompt library wraps the text again at each key, in a time that grows with the square of its length. */
const MAX_EDITED_CHARS = 5_000;

/** Asks whether a call may run. Escape denies it. */
async function askApproval(
  { capability, arguments: given, problem }: Pick<ApprovalAsked, 'capability' | 'arguments' | 'problem'>,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ApprovalReply | null> {
  const { screen, out } = terminal;
  const text = safeJson(given);
  if (problem !== null) screen.line(`  ${oneLine(problem)}`);
  screen.line(`  The capability "${oneLine(capability)}" needs your approval. Its arguments:`);
  screen.line(unchanged(text, out.columns || 80));
  const choices = APPROVAL.choices.filter(({ value }) => value !== 'edit' || text.length <= MAX_EDITED_CHARS);
  const reply = await select({ ...APPROVAL, choices }, terminal, signal);
  if (reply.kind !== 'chosen') return reply.kind === 'cancelled' ? null : { decision: 'deny' };
  if (reply.value === 'explain') {
    const reason = await askText('Reason:', '', terminal, signal);
    return signal.aborted ? null : { decision: 'deny', ...(reason !== null && { reason }) };
  }
  if (reply.value !== 'edit') return { decision: reply.value };
  for (let edited = await askText('Arguments:', text, terminal, signal); edited !== null; ) {
    const found = objectIn(edited);
    if (found !== null) return { decision: 'approve', arguments: found };
    screen.line('  Expected a JSON object.');
    edited = await askText('Arguments:', edited, terminal, signal);
  }
  return signal.aborted ? null : askApproval({ capability, arguments: given, problem: null }, terminal, signal);
}

function objectIn(text: string): ApprovalReply['arguments'] | null {
  const value = parseJson(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as NonNullable<ApprovalReply['arguments']>) : null;
}

type Item = ConsentRequest['items'][number];

const MAX_LISTED = 10;
const INDENT = '      ';

const KEEP: UserReply = { type: 'consent.given', choice: 'keep' };

/** Asks what to do with the user's long messages: all at once or one by one. Escape keeps those without a reply. */
async function askConsent(
  { items }: ConsentRequest,
  terminal: Terminal,
  signal: AbortSignal,
  waitMs: number,
): Promise<UserReply | null> {
  if (items.length === 0) return KEEP;
  const { screen } = terminal;
  const timeout = `(kept after ${Math.round(waitMs / 1000)} s without a reply)`;
  if (items.length === 1) {
    screen.line(`  One of your messages is long ${timeout}:`);
    return askEach(items, terminal, signal);
  }
  screen.line(`  ${count(items.length, 'message')} of yours are long ${timeout}:`);
  for (const item of items.slice(0, MAX_LISTED)) screen.line(`    ${titleOf(item)}`);
  if (items.length > MAX_LISTED) screen.line(`    … and ${items.length - MAX_LISTED} more`);
  const reply = await select(CONSENT_FOR_ALL, terminal, signal);
  if (reply.kind !== 'chosen') return reply.kind === 'dismissed' ? KEEP : null;
  return reply.value === 'each' ? askEach(items, terminal, signal) : { type: 'consent.given', choice: reply.value };
}

const CONSENT_FOR_ALL: SelectOptions<ConsentChoice | 'each'> = {
  text: 'What should happen to them?',
  choices: [
    { value: 'keep', label: 'keep all' },
    { value: 'summarize', label: 'summarize all' },
    { value: 'remove', label: 'remove all' },
    { value: 'each', label: 'decide one by one' },
  ],
  initial: 'keep',
  onEscape: 'keep all',
};

async function askEach(items: readonly Item[], terminal: Terminal, signal: AbortSignal): Promise<UserReply | null> {
  const choices: [string, ConsentChoice][] = [];
  for (const [index, item] of items.entries()) {
    const position = items.length === 1 ? '' : `${index + 1} of ${items.length}: `;
    terminal.screen.line(`    ${position}${titleOf(item)}`);
    if (item.summary !== '') terminal.screen.line(summaryText(item, terminal.out.columns || 80));
    const reply = await select(consentForOne(item, index < items.length - 1), terminal, signal);
    if (reply.kind === 'cancelled') return null;
    if (reply.kind === 'dismissed') break;
    choices.push([item.messageId, reply.value]);
  }
  return { type: 'consent.given', choice: 'keep', items: Object.fromEntries(choices) };
}

function consentForOne(item: Item, hasMore: boolean): SelectOptions<ConsentChoice> {
  const recommended = recommendedChoice(item);
  const offered: ConsentChoice[] = item.summary === '' ? ['keep', 'remove'] : ['keep', 'summarize', 'remove'];
  return {
    text: 'What should happen to it?',
    choices: offered.map((value) => ({
      value,
      label: value,
      ...(value === recommended && { note: 'recommended' }),
    })),
    initial: 'keep',
    onEscape: hasMore ? 'keep it and the rest' : 'keep',
  };
}

function summaryText({ summary }: Item, columns: number): string {
  const text = `summary: "${oneLine(summary)}" (${grouped(summary.length)} characters)`;
  return indented(text, columns);
}

const widthIn = (columns: number): number => Math.max(20, columns - INDENT.length - 1);

const indented = (text: string, columns: number): string =>
  wrapAnsi(text, widthIn(columns), { hard: true }).replace(/^/gm, INDENT);

/** Wraps with all spaces. In pieces of whole lines, because the time to wrap a word grows with the square of its length. */
function unchanged(text: string, columns: number): string {
  const width = widthIn(columns);
  const pieces = text.match(new RegExp(`.{1,${20 * width}}`, 'gsu')) ?? [];
  const lines = pieces.map((piece) => wrapAnsi(piece, width, { hard: true, wordWrap: false, trim: false }));
  return lines.join('\n').replace(/^/gm, INDENT);
}

function titleOf({ preview, chars }: Item): string {
  return `"${oneLine(preview)}" (${grouped(chars)} characters)`;
}

const DIRECTIONS: readonly string[] = [...PHASES, 'finish', 'cancel'];

/** Returns the event for a phase, "finish" or "cancel". The chart rejects other words. */
function directionEvent(word: string): UserReply {
  if (word === 'finish') return { type: 'run.finished' };
  if (word === 'cancel') return { type: 'run.cancelled' };
  return { type: 'run.directed', phase: word };
}

/** Asks for the next phase. Escape finishes the run. */
async function askDirection(proposal: string, terminal: Terminal, signal: AbortSignal): Promise<UserReply | null> {
  const isKnown = DIRECTIONS.includes(proposal);
  const reply = await select(
    {
      text: isKnown
        ? 'Continue with which phase?'
        : `Continue with which phase? (proposed: "${oneLine(proposal)}", not a phase)`,
      choices: DIRECTIONS.map((value) => ({ value, label: value, ...(value === proposal && { note: 'proposed' }) })),
      initial: proposal,
      onEscape: 'finish',
    },
    terminal,
    signal,
  );
  if (reply.kind === 'cancelled') return null;
  return directionEvent(reply.kind === 'chosen' ? reply.value : 'finish');
}

export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly out: NodeJS.WriteStream;
  readonly screen: Screen;
  readonly colors: Colors;
  /** Handles Ctrl-C, which arrives as a key and not as a signal while a prompt is open. */
  readonly interrupt: () => void;
}

/** A terminal at which the user can be asked before a run starts; null if nobody can be asked. */
export type Asker = Terminal | null;

export interface AskerFlags {
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly format?: string;
}

export function askerFor({ quiet, json, format }: AskerFlags, { stdin, stderr }: StandardStreams): Asker {
  if (quiet || json || format === 'json' || !stdin.isTTY || !stderr.isTTY) return null;
  const interrupt = (): void => process.exit(130);
  return { input: stdin, out: stderr, screen: createScreen(stderr), colors: colorsFor(stderr), interrupt };
}

/** Lets the user choose before a run starts. Returns null for Escape. */
export async function ask<Value>(options: SelectOptions<Value>, terminal: Terminal): Promise<Value | null> {
  const reply = await select(options, terminal, new AbortController().signal);
  return reply.kind === 'chosen' ? reply.value : null;
}

export interface SelectOptions<Value> {
  readonly text: string;
  /** A note is shown next to a choice while the prompt is open. */
  readonly choices: readonly { readonly value: Value; readonly label: string; readonly note?: string }[];
  readonly initial: Value;
  /** Describes what Escape does. */
  readonly onEscape: string;
}

/** `dismissed`: Escape, or the input ended. `cancelled`: Ctrl-C, or the signal aborted. */
export type SelectReply<Value> =
  | { readonly kind: 'chosen'; readonly value: Value }
  | { readonly kind: 'dismissed' }
  | { readonly kind: 'cancelled' };

/** Lets the user choose with the arrow keys. */
export function select<Value>(
  options: SelectOptions<Value>,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<SelectReply<Value>> {
  return prompted(terminal, signal, ({ SelectPrompt }, streams, ending) => {
    const prompt = new SelectPrompt<{ value: Value }>({
      ...streams,
      options: [...options.choices],
      initialValue: options.initial,
      render() {
        const onEscape = ending() === 'ctrl-c' ? 'Ctrl-C' : options.onEscape;
        return frame({ ...options, onEscape }, this.cursor, this.state, terminal.colors);
      },
    });
    return prompt.prompt() as Promise<Value | symbol>;
  });
}

/** Lets the user edit a line of text. Returns null for Escape, and if the question is withdrawn. */
async function askText(
  label: string,
  initial: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | null> {
  const reply = await prompted<string>(terminal, signal, ({ TextPrompt }, streams) => {
    const prompt = new TextPrompt({
      ...streams,
      initialUserInput: initial,
      render() {
        return this.state === 'active' || this.state === 'initial'
          ? `  ${label} ${this.userInputWithCursor}\n${terminal.colors.dim('  Enter: send · Esc: back')}`
          : `  ${label} ${oneLine(this.userInput)}`;
      },
    });
    return prompt.prompt() as Promise<string | symbol>;
  });
  return reply.kind === 'chosen' ? (reply.value ?? '') : null;
}

type Ending = 'escape' | 'ctrl-c' | 'aborted';
type Library = typeof import('@clack/core');
interface PromptStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/** Opens a prompt, and closes it when the signal aborts or the input ends. Loads the prompt library on first use. */
export async function prompted<Value>(
  { input, out, screen, interrupt }: Terminal,
  signal: AbortSignal,
  open: (library: Library, streams: PromptStreams, ending: () => Ending) => Promise<Value | symbol>,
): Promise<SelectReply<Value>> {
  const library = await import('@clack/core');
  if (signal.aborted) return { kind: 'cancelled' };
  if (input.readableEnded || input.destroyed) return { kind: 'dismissed' };
  screen.clear();
  const stop = new AbortController();
  let isOpen = true;
  let ending: Ending = 'escape';
  const end = (): void => {
    if (isOpen) stop.abort();
  };
  const onKey = (_: string | undefined, { ctrl, name }: { ctrl?: boolean; name?: string }): void => {
    if (ctrl && name === 'c') ending = 'ctrl-c';
    // The library ignores Ctrl-D. Abort after all key listeners have run.
    if (ctrl && name === 'd') queueMicrotask(end);
  };
  const removeAbortListener = onAbort(signal, () => {
    ending = 'aborted';
    end();
  });
  input.on('keypress', onKey).on('end', end).on('close', end);
  try {
    const value = await open(library, { input, output: out, signal: stop.signal }, () => ending);
    if (!library.isCancel(value)) return { kind: 'chosen', value: value as Value };
  } finally {
    isOpen = false;
    removeAbortListener();
    input.off('keypress', onKey).off('end', end).off('close', end);
  }
  // The key listeners change it.
  const ended = ending as Ending;
  if (ended === 'escape') return { kind: 'dismissed' };
  if (ended === 'ctrl-c') interrupt();
  return { kind: 'cancelled' };
}

/** Renders the choices while the prompt is open, and one line afterwards. */
function frame<Value>(
  { text, choices, onEscape }: SelectOptions<Value>,
  cursor: number,
  state: string,
  colors: Colors,
): string {
  if (state === 'submit') return `  ${text} ${colors.cyan(choices[cursor]?.label ?? '')}`;
  if (state === 'cancel') return `  ${text} ${colors.dim(onEscape)}`;
  const lines = choices.map(({ label, note }, at) => {
    const noted = note === undefined ? label : `${label} (${note})`;
    return at === cursor ? colors.cyan(`  > ${noted}`) : `    ${noted}`;
  });
  const keys = colors.dim(`  ↑/↓: move · Enter: select · Esc: ${onEscape}`);
  return [`  ${text}`, ...lines, keys].join('\n');
}
