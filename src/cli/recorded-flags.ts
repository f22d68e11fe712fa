import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../machines/contracts/journal.ts';
import { commandLine, shellWord } from '../../machines/text/quoting.ts';
import type { PostChain } from '../chain/create-post-chain.ts';
import { parseRun } from '../chain/journal/run-journal.ts';
import { runStartOf } from '../chain/journal/run-start.ts';
import type { JournalStore } from '../durable/journals/journal-store.ts';
import type { RecordedModel } from '../inspection/recorded-run.ts';
import type { NeedsTrust } from '../inspection/wire.ts';
import { oneLine, printableJson } from '../internal/printable.ts';
import { type Asker, ask, askerFor, prompted, type SelectOptions, type Terminal } from './ask-user.ts';
import { baseUrlOf, DEFAULT_BASE_URL, defaultModel, modelIdOf } from './choose-model.ts';
import { hiddenArguments, withHiddenValues } from './mcp-servers.ts';
import type { RunFlags } from './prepare-run.ts';
import type { StandardStreams } from './screen.ts';

export interface ContinueFlags extends RunFlags {
  /** Opens what a journal that may come from someone else names. */
  readonly trust?: boolean;
}

/** The flags that a journal records. Other recorded fields are ignored. */
const recordedFlagsSchema = z.object({
  model: z.optional(z.string()),
  fallbackModel: z.optional(z.array(z.string())),
  baseUrl: z.optional(z.string()),
  stream: z.optional(z.boolean()),
  api: z.optional(z.enum(['chat', 'responses'])),
  reasoningEffort: z.optional(z.string()),
  serviceTier: z.optional(z.string()),
  docs: z.optional(z.array(z.string())),
  embeddings: z.optional(z.string()),
  capability: z.optional(z.array(z.enum(['current_time', 'search_documents', 'read_passage']))),
  mcp: z.optional(z.array(z.string())),
  sessionFile: z.optional(z.string()),
  /** Where the run was started: MCP commands may name files in it. */
  directory: z.optional(z.string()),
});
type RecordedFlags = Pick<RunFlags, Exclude<keyof z.infer<typeof recordedFlagsSchema>, 'directory'> | 'session'> & {
  readonly directory?: string;
};

/**
 * Returns the flags to continue a run with: the given ones, and for the rest those recorded in its first entry. A journal outside of the
 * user's own directory (`isForeign`) may come from anyone, so it opens nothing without `--trust`, a confirmation at a terminal, or flags
 * given by the user. The caller reads the journal once: anyone who can write it may replace it in between.
 *
 * @throws PostChainError `invalid_journal` for unreadable flags, `invalid_option` if the user must decide something.
 */
export async function flagsToContinue(
  start: RunStart,
  isForeign: boolean,
  given: ContinueFlags,
  streams: StandardStreams,
): Promise<ContinueFlags> {
  const { directory: _, ...recorded } = recordedFlags(start);
  const asker = askerFor(given, streams);
  const question = trustQuestion(start, isForeign, given);
  if (question !== null && given.trust !== true) await requireTrust(start, question, asker);
  const baseUrl = await chooseBaseUrl(start, recorded, given, asker);
  const mcp = given.mcp ?? (recorded.mcp && (await withKeys(start, recorded.mcp, asker)));
  return { ...recorded, ...given, ...(baseUrl !== undefined && { baseUrl }), ...(mcp && { mcp }) };
}

/** Throws `invalid_option` if a resumed run would get a model that neither the run nor the user has chosen. The program that started it may have it. */
export function requireModel(
  { input: { runId }, product: { modelId } }: RunStart,
  given: RunFlags,
  { options }: PostChain,
): void {
  const model = options.model?.id ?? '';
  if (given.model !== undefined || model === modelId) return;
  throw new PostChainError(
    'invalid_option',
    `Run ${oneLine(runId)} needs the model ${oneLine(modelId)}, not ${model}; resume it in the program that started it, or pass its --model`,
  );
}

/**
 * Returns why the inspector cannot resume a run and, after the first line, code that resumes it; null if it has the model and the tools of the
 * run. `place`: the option --journals of the inspector.
 */
export function resumeProblem(
  { runId, modelId, tools, host }: RecordedModel,
  place: string | undefined,
): string | null {
  const flags = recordedFlagsSchema.safeParse(Object(host).flags).data;
  const hasModel = modelIdOf(flags?.model ?? defaultModel(process.env, flags?.baseUrl)) === modelId;
  // The recorded flags restore all tools; without flags, the tools are those of a program.
  const missing = flags === undefined ? tools : [];
  if (hasModel && missing.length === 0) return null;
  const needs = [
    ...(hasModel ? [] : [`the model ${modelId}`]),
    ...(missing.length === 0 ? [] : [`the tools ${missing.join(', ')}`]),
  ];
  const problem = `The run needs ${oneLine(needs.join(' and '))}, which this inspector does not have. Resume it in the program that started it`;
  if (missing.length > 0) return `${problem}:\nawait chain.resume(${quoted(runId)})`;
  const name = ['offline', modelId.replace(/^openai:/u, '')].find((one) => modelIdOf(one) === modelId) ?? 'NAME';
  const journals = place?.replace(/(:\/\/[^:@/]*):.*@/u, '$1:PASSWORD@');
  const options = [
    `--model ${shellWord(name)}`,
    ...(journals === undefined ? [] : [`--journals ${shellWord(journals)}`]),
  ];
  return `${problem}, or with this command:\n${oneLine(commandLine('postchain resume', runId, ...options))}`;
}

/** Returns what the user must confirm before a run is continued; null if it opens nothing, or its journal is the user's own. */
export function trustQuestion(start: RunStart, isForeign: boolean, given: RunFlags = {}): NeedsTrust | null {
  const { directory, ...recorded } = recordedFlags(start);
  const actions = actionsOf(recorded, given);
  const doubt = doubtOf(isForeign, recorded.mcp && given.mcp === undefined ? directory : undefined);
  return doubt === null || actions.length === 0 ? null : { doubt, actions };
}

export async function startIn(entries: AsyncIterable<JournalEntry>): Promise<RunStart> {
  for await (const entry of entries) return runStartOf([entry]);
  return runStartOf([]);
}

/** Returns a store that opens a run only if it still begins with the entry that the user was asked about. */
export const requireSameStart = (start: RunStart, store: JournalStore): JournalStore =>
  openedIf(
    ([first]) => isDeepStrictEqual(first, start),
    'was replaced while it was being opened; review it again, and check who can write its journal',
    store,
  );

/** Returns a store that opens a run only if its entries are accepted; `problem` follows the name of the run. */
export function openedIf(
  isAccepted: (entries: readonly JournalEntry[]) => boolean,
  problem: string,
  store: JournalStore,
): JournalStore {
  return {
    ...store,
    async open(runId, options) {
      const opened = await store.open(runId, options);
      if (isAccepted(parseRun(opened.entries))) return opened;
      await opened.writer.close();
      throw new PostChainError('invalid_journal', `Run ${oneLine(runId)} ${problem}`);
    },
  };
}

/** A fork has the session id of its source, but is not added to the session. */
function recordedFlags({ input: { runId, sessionId }, product: { host }, forkedFrom }: RunStart): RecordedFlags {
  const parsed = recordedFlagsSchema.safeParse(host?.['flags'] ?? {});
  if (!parsed.success)
    throw new PostChainError(
      'invalid_journal',
      `Run ${runId} has invalid recorded flags; expected those of "postchain run"`,
    );
  // JSON has no undefined.
  const flags = parsed.data as RecordedFlags;
  const hasSession = host?.['flags'] !== undefined && sessionId !== null && forkedFrom === null;
  return hasSession ? { ...flags, session: sessionId } : flags;
}

const quoted = (text: string): string => printableJson(JSON.stringify(text));

/** Returns the models that continuing a run would call, without the extractive one and those that the user named. */
function modelsOf({ model, fallbackModel = [], baseUrl }: RecordedFlags, given: RunFlags): readonly string[] {
  const first = given.model === undefined ? [model ?? defaultModel(process.env, baseUrl)] : [];
  const fallbacks = given.fallbackModel === undefined ? fallbackModel : [];
  return [...first, ...fallbacks].filter((name) => name !== 'offline');
}

/** Returns what continuing a run would open, except what the user named, as phrases that complete "would …". */
function actionsOf(recorded: RecordedFlags, given: RunFlags): readonly string[] {
  const listed = <Name extends 'mcp' | 'docs' | 'session' | 'sessionFile'>(name: Name, verb: string) =>
    given[name] === undefined ? [recorded[name] ?? []].flat().map((value) => `${verb} ${quoted(value)}`) : [];
  const server = recorded.baseUrl ?? DEFAULT_BASE_URL;
  const isOwn = server === DEFAULT_BASE_URL || process.env['OPENAI_BASE_URL'];
  return [
    ...listed('mcp', 'start mcp'),
    ...listed('docs', 'read docs'),
    ...listed('session', 'continue session'),
    ...listed('sessionFile', 'open sessionFile'),
    ...(isOwn || given.baseUrl !== undefined
      ? []
      : [`send the run and OPENAI_API_KEY to the model server ${quoted(server)}`]),
    ...(isOwn ? modelsOf(recorded, given).map((name) => `use the model ${quoted(name)} with OPENAI_API_KEY`) : []),
  ];
}

/** Returns why a run may not be continued without a question, as a phrase after "because" or "but". */
function doubtOf(isForeign: boolean, directory: string | undefined): string | null {
  if (isForeign) return 'its journal is not in your journal directory and may come from someone else';
  if (directory !== undefined && directory !== process.cwd()) return `it was started in ${quoted(directory)}`;
  return null;
}

async function requireTrust({ input: { runId } }: RunStart, { doubt, actions }: NeedsTrust, asker: Asker) {
  if (asker !== null) {
    asker.screen.line(`Run ${oneLine(runId)} may not be what you expect: ${doubt}. To continue it, postchain would`);
    for (const action of actions) asker.screen.line(`  ${action}`);
    if (await ask(TRUST, asker)) return;
  }
  throw new PostChainError(
    'invalid_option',
    `Run ${oneLine(runId)} would ${actions.join(', ')}, but ${doubt}; pass --trust if you trust it, or pass your own --mcp, --docs and --model`,
  );
}

const TRUST: SelectOptions<boolean> = {
  text: 'Continue?',
  choices: [
    { value: false, label: 'no' },
    { value: true, label: 'yes, I trust this run' },
  ],
  initial: false,
  onEscape: 'no',
};

/** Returns the base URL of the model server to use, or undefined to use the environment's. */
async function chooseBaseUrl({ input: { runId } }: RunStart, recorded: RecordedFlags, given: RunFlags, asker: Asker) {
  const environment = process.env['OPENAI_BASE_URL'];
  if (given.baseUrl !== undefined || recorded.baseUrl === undefined || !environment)
    return given.baseUrl ?? recorded.baseUrl;
  const [before, now] = [recorded.baseUrl, baseUrlOf(undefined, process.env)];
  if (before === now) return before;
  const chosen =
    asker &&
    (await ask(
      {
        text: 'This run used a different model server than OPENAI_BASE_URL. Which one should it continue with?',
        choices: [
          { value: before, label: oneLine(before), note: 'used so far' },
          { value: now, label: oneLine(now), note: 'OPENAI_BASE_URL' },
        ],
        initial: now,
        onEscape: 'stop',
      },
      asker,
    ));
  if (chosen !== null) return chosen;
  throw new PostChainError(
    'invalid_option',
    oneLine(
      `Run ${runId} used the model server ${before}, but OPENAI_BASE_URL is ${now}; set OPENAI_BASE_URL or --base-url to the one to use`,
    ),
  );
}

async function withKeys(
  { input: { runId } }: RunStart,
  servers: readonly string[],
  asker: Asker,
): Promise<readonly string[]> {
  const complete: string[] = [];
  for (const server of servers) {
    const values: string[] = [];
    for (const name of hiddenArguments(server)) {
      const value = asker && (await askSecret(`Value of ${oneLine(name)} for ${quoted(server)}:`, asker));
      if (!value)
        throw new PostChainError(
          'invalid_option',
          `Run ${oneLine(runId)} does not record the value of ${oneLine(name)} in ${quoted(server)}; pass the complete command with --mcp`,
        );
      values.push(value);
    }
    complete.push(withHiddenValues(server, values));
  }
  return complete;
}

/** Asks for a value without echoing it. Returns null if the user dismisses the prompt. */
async function askSecret(text: string, terminal: Terminal): Promise<string | null> {
  const reply = await prompted<string>(terminal, new AbortController().signal, ({ PasswordPrompt }, streams) => {
    const prompt = new PasswordPrompt({
      ...streams,
      render() {
        return `  ${text} ${this.state === 'active' || this.state === 'initial' ? this.masked : ''}`;
      },
    });
    return prompt.prompt() as Promise<string | symbol>;
  });
  return reply.kind === 'chosen' ? (reply.value ?? '').trim() : null;
}
