import { PostChainError } from '../../machines/contracts/error.ts';
import type { ApprovalGiven } from '../durable/approval.ts';
import type { Json } from '../durable/codec.ts';
import type { OpenApproval } from '../durable/entries.ts';
import { hasCode } from '../durable/error.ts';
import { forkByName } from '../durable/fork-by-name.ts';
import { whereOf } from '../durable/journals/journal-store.ts';
import type { RepairAction, RepairResult } from '../durable/repair.ts';
import { differenceText } from '../durable/replay.ts';
import { parseJson } from '../internal/json-text.ts';
import { plainJson } from '../internal/plain-json.ts';
import { count, cutEnd, oneLine, printableJson } from '../internal/printable.ts';
import { durableMachines, type ModuleFlags } from './durable-modules.ts';
import { type ActorOfModule, requireHosted } from './find-run.ts';
import { actorLine } from './show-command.ts';
import { untilStopped } from './until-stopped.ts';

export interface SendFlags extends ModuleFlags {
  /** An event with a known id is ignored. */
  readonly id?: string;
}

export interface AnswerFlags extends ModuleFlags {
  /** JSON to approve instead of the question. */
  readonly edit?: string;
  readonly reason?: string;
  readonly by?: string;
}

export interface RepairFlags extends ModuleFlags {
  /** NAME=VALUE of attributes. */
  readonly where?: readonly string[];
  readonly all?: boolean;
  readonly limit?: number;
  readonly dryRun?: boolean;
  /** JSON. */
  readonly output?: string;
  readonly json?: boolean;
}

export interface Printed {
  readonly text: string;
  /** 0 if the actor changed, or its replay found no difference; otherwise 1. */
  readonly code: number;
}

/** Sends an event to a durable actor, and continues it until it only waits. */
export async function sendCommand(name: string, event: string, { id, ...flags }: SendFlags): Promise<Printed> {
  const hosted = await requireHosted(name, flags);
  return sent(hosted, parseEvent(event), id === undefined ? {} : { id });
}

/** Answers an approval of a durable actor that no process holds. `question` may be left out if there is only one. */
export async function answerCommand(
  name: string,
  decision: 'approve' | 'deny',
  question: string | undefined,
  { edit, reason, by, ...flags }: AnswerFlags,
): Promise<Printed> {
  const hosted = await requireHosted(name, flags);
  const { id, digest, question: asked } = await openApproval(hosted, question);
  const answer: ApprovalGiven = {
    type: 'approval.given',
    id,
    digest,
    decision,
    ...(edit !== undefined && { edited: parseJsonFlag('--edit', edit) as Json }),
    ...(reason !== undefined && { reason }),
    ...(by !== undefined && { by }),
  };
  const { text, code } = await sent(hosted, answer);
  return { text: `Question ${oneLine(id)}: ${valueLine(asked)}\n${text}`, code };
}

/** Ends a durable actor. */
export async function stopCommand(name: string, flags: ModuleFlags): Promise<Printed> {
  const hosted = await requireHosted(name, flags);
  return changed(hosted, await hosted.host.stop(hosted.id), 'the actor has already ended');
}

/** Repairs one durable actor, and continues it until it only waits; or all that match, and leaves those that continue to workers. */
export async function repairCommand(
  action: RepairAction,
  names: readonly string[],
  flags: RepairFlags,
): Promise<Printed> {
  const { where = [], all = false, limit, dryRun = false, output, json = false } = flags;
  if (names.length === 0 && where.length === 0 && !all)
    throw new PostChainError(
      'invalid_option',
      'repair: expected ids of actors, --where NAME=VALUE or --all; received none of them',
    );
  const named = await Promise.all(names.map((name) => requireHosted(name, flags)));
  const hosts = names.length === 0 ? await durableMachines(flags) : [...new Set(named.map(({ host }) => host))];
  const options = {
    dryRun,
    ...(where.length > 0 && { where: whereOf(where) }),
    ...(limit !== undefined && { limit }),
    ...(output !== undefined && { output: parseJsonFlag('--output', output) }),
  };
  const results: RepairResult[] = [];
  for (const host of hosts) {
    const ids = named.flatMap((one) => (one.host === host ? [one.id] : []));
    results.push(...(await host.repair(action, names.length === 0 ? options : { ...options, ids })));
  }
  const repaired = results.filter(({ problem }) => problem === null);
  const code = repaired.length === results.length && results.length >= names.length ? 0 : 1;
  if (json) return { text: `${printableJson(JSON.stringify(results, null, 2))}\n`, code };
  const lines = results.map(({ id, problem }) =>
    oneLine(problem ?? `${id}: ${dryRun ? 'would be ' : ''}${DONE[action]}`),
  );
  const [only] = named;
  if (only !== undefined && named.length === 1 && repaired.length === 1 && !dryRun) {
    if (action === 'retry' || action === 'skip') await advance(only);
    return { text: `${lines.join('\n')}\n${await stateOf(only)}`, code };
  }
  const wait = dryRun || action === 'stop' || repaired.length === 0 ? '' : '; a worker continues them';
  lines.push(
    `${repaired.length} of ${count(results.length, 'actor')} ${dryRun ? 'would be ' : ''}${DONE[action]}${wait}.`,
  );
  return { text: `${lines.join('\n')}\n`, code };
}

const DONE = { retry: 'retried', skip: 'skipped', release: 'released', stop: 'stopped' } as const;

/** Replays a durable actor without calls or effects. */
export async function replayActor({ host, actor }: ActorOfModule, isJson = false): Promise<Printed> {
  const { divergence, from } = await host.replay(actor.id);
  const result = { entries: actor.lastSeq + 1, from, same: divergence === null, divergence };
  const code = divergence === null ? 0 : 1;
  if (isJson) return { text: `${printableJson(JSON.stringify(result, null, 2))}\n`, code };
  const part = from === 0 ? '' : `, from the migration in entry ${from}: this module lacks an earlier version`;
  if (divergence === null) return { text: `Identical: ${count(result.entries, 'entry', 'entries')}${part}\n`, code };
  return { text: `Different: ${oneLine(differenceText(divergence))}\n`, code };
}

/** Continues a durable actor until it only waits or has ended, or until Ctrl-C. */
export async function resumeActor(hosted: ActorOfModule): Promise<Printed> {
  await advance(hosted);
  return { text: await stateOf(hosted), code: 0 };
}

async function advance({ host, id }: ActorOfModule): Promise<void> {
  const stopping = new AbortController();
  void untilStopped().then(() => stopping.abort());
  await host.advance(id, { signal: stopping.signal });
}

/** Starts another actor with the same past, up to an entry, and continues it until it only waits. */
export async function forkActor({ host, actor }: ActorOfModule, at: number): Promise<Printed> {
  const fork = await forkByName(host, actor.id, { at });
  await fork.park({ wait: true });
  const state = await stateOf({ host, id: fork.id });
  return { text: `${oneLine(fork.id)} is a fork of ${oneLine(actor.id)} at entry ${at}.\n${state}`, code: 0 };
}

/** Sends an event. An event that is ignored, or after which the actor has failed, exits with 1. */
async function sent(
  hosted: ActorOfModule,
  event: { readonly type: string },
  options: { readonly id?: string } = {},
): Promise<Printed> {
  const { host, id, actor } = hosted;
  // The process that holds an actor may take long to reply.
  const hasReply = actor.status !== 'running' && event.type !== 'approval.given';
  try {
    // A reply does not show whether the id is new.
    if ((!hasReply || options.id !== undefined) && !(await host.send(id, event as never, options)))
      return changed(
        hosted,
        false,
        'the actor has ended, has already received an event with this id, or no longer waits for this approval',
      );
    if (hasReply) await host.send(id, event as never, { ...options, reply: true });
    // The actor may have calls in progress.
    await advance(hosted);
  } catch (error) {
    const message = oneLine(String((error as Error).message));
    if (hasCode(error, 'journal_held'))
      return { text: `Stored. ${message.slice(0, message.lastIndexOf(';'))}.\n${await stateOf(hosted)}`, code: 0 };
    if (!hasCode(error, 'event_ignored')) throw error;
    if (!(await hasFailed(hosted))) return changed(hosted, false, message.replace(/\.$/u, ''));
  }
  const state = await stateOf(hosted);
  return (await hasFailed(hosted)) ? { text: `The actor has failed.\n${state}`, code: 1 } : { text: state, code: 0 };
}

/** Whether an actor has failed since it was found. */
const hasFailed = async (hosted: ActorOfModule): Promise<boolean> =>
  hosted.actor.status !== 'error' && (await listed(hosted))?.status === 'error';

async function changed(hosted: ActorOfModule, isChanged: boolean, why: string): Promise<Printed> {
  const state = await stateOf(hosted);
  return isChanged ? { text: state, code: 0 } : { text: `Nothing changed: ${why}.\n${state}`, code: 1 };
}

const listed = async ({ host, id }: Pick<ActorOfModule, 'host' | 'id'>) =>
  (await host.list()).find((actor) => actor.id === id);

/** Returns what lists show of the actor now, and its output if it has ended. */
async function stateOf(hosted: Pick<ActorOfModule, 'host' | 'id'>): Promise<string> {
  const now = await listed(hosted);
  if (now === undefined) return '';
  const { host, id } = hosted;
  const { output } = (now.status === 'done' ? (await host.query(id)).snapshot : {}) as { readonly output?: unknown };
  return `${actorLine(now)}\n${output === undefined ? '' : `Output: ${valueLine(output)}\n`}`;
}

const valueLine = (value: unknown): string => oneLine(JSON.stringify(plainJson(value)) ?? '');

/** Parses an event: a JSON object with a type, or only the type. */
function parseEvent(text: string): { readonly type: string } {
  const event = text.trimStart().startsWith('{') ? parseJsonFlag('event', text) : { type: text };
  if (typeof Object(event).type === 'string') return event as { readonly type: string };
  throw new PostChainError(
    'invalid_option',
    `event: expected a type, or a JSON object with a "type"; received ${cutEnd(oneLine(text), 100)}`,
  );
}

function parseJsonFlag(flag: string, text: string): unknown {
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw new PostChainError('invalid_option', `${flag}: expected JSON; received ${cutEnd(oneLine(text), 100)}`);
}

/** Returns the approval to answer. The list does not have those of an interrupted actor. */
async function openApproval({ actor, host }: ActorOfModule, chosen: string | undefined): Promise<OpenApproval> {
  const { id, status } = actor;
  const open = (await host.query(id)).pending.approvals;
  const found = chosen === undefined ? open : open.filter((approval) => approval.id === chosen);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const listed = open.map((approval) => `${approval.id}: ${cutEnd(oneLine(JSON.stringify(approval.question)), 100)}`);
  const expected =
    listed.length > 0 ? `expected the id of one of its questions (${listed.join('; ')})` : 'it has no open question';
  const hint = status === 'running' ? '; a process holds it: answer there, or end that process' : '';
  throw new PostChainError('invalid_option', `Actor ${oneLine(id)} (${status}): ${expected}${hint}`);
}
