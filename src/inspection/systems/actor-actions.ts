import { userInfo } from 'node:os';
import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { DurableMachine } from '../../durable/durable-machine.ts';
import { forkByName } from '../../durable/fork-by-name.ts';
import type { RepairAction, RepairResult } from '../../durable/repair.ts';
import { differenceText } from '../../durable/replay.ts';
import { acceptedEvent, type EventSchemas, eventSchema } from '../../internal/accepted-events.ts';
import { invalidOption } from '../../internal/options.ts';
import { oneLine } from '../../internal/printable.ts';
import type { RunAction } from '../wire.ts';

/** A recorded actor, and the durable machine that acts on it. */
export interface InspectedActor {
  readonly id: string;
  readonly host: DurableMachine<AnyStateMachine>;
}

/** The result of an action: the id of the actor to show, null for the same one, and a sentence with the entry that it is about. */
interface ActorResult {
  readonly runId: string | null;
  readonly note: string;
  readonly seq?: number;
}

/** Sends an event that a page has made. Resolves when its step is stored; calls that it starts continue in this process. */
export async function sendToActor(
  { id, host }: InspectedActor,
  event: unknown,
  events: EventSchemas | undefined,
): Promise<void> {
  if (await host.send(id, (await checkedEvent(event, events)) as never)) return;
  throw new PostChainError(
    'invalid_option',
    'Nothing changed: the actor has ended or no longer waits for this approval.',
  );
}

export async function actOnActor(
  { id, host }: InspectedActor,
  action: RunAction,
  events: EventSchemas | undefined,
): Promise<ActorResult> {
  switch (action.type) {
    case 'resume':
      return { runId: id, note: await resume(id, host) };
    case 'stop':
      return { runId: id, note: (await host.stop(id)) ? '' : 'Nothing changed: the actor has already ended.' };
    case 'retry':
    case 'release': {
      const [result] = await repairActors(action.type, [{ id, host }], {});
      if (result?.problem) throw new PostChainError('not_repairable', result.problem);
      return { runId: id, note: '' };
    }
    case 'replay': {
      const { divergence } = await host.replay(id);
      if (divergence === null) return { runId: null, note: IDENTICAL };
      return { runId: null, note: `Divergence at ${oneLine(differenceText(divergence))}.`, seq: divergence.seq };
    }
    case 'fork': {
      if (Object.keys(action.set).length > 0 || action.turns !== undefined || action.model !== undefined)
        throw new PostChainError('invalid_option', RUN_SETTINGS);
      const event = action.event && (await checkedEvent(action.event, events));
      const input = action.input === undefined ? {} : { input: action.input as never };
      const fork = await forkByName(host, id, { at: action.at, ...(event && { event: event as never }), ...input });
      fork.park({ wait: true }).catch(() => {});
      return { runId: fork.id, note: '' };
    }
    default:
      return action satisfies never;
  }
}

/** Repairs actors of several durable machines. Those that the action is not for get a problem, too. Only a single actor is continued here. */
export async function repairActors(
  action: RepairAction,
  actors: readonly InspectedActor[],
  options: { readonly dryRun?: boolean; readonly output?: unknown },
): Promise<readonly RepairResult[]> {
  const results = new Map<InspectedActor['host'], ReadonlyMap<string, RepairResult>>();
  for (const host of new Set(actors.map((actor) => actor.host))) {
    const ids = actors.flatMap((actor) => (actor.host === host ? [actor.id] : []));
    const repaired = await host.repair(action, { ...options, ids });
    results.set(host, new Map(repaired.map((one) => [one.id, one])));
  }
  const [only, ...others] = actors;
  const isRepaired = only !== undefined && results.get(only.host)?.get(only.id)?.problem === null;
  const continues = (action === 'retry' || action === 'skip') && options.dryRun !== true && others.length === 0;
  // A worker may have been faster.
  if (isRepaired && continues) await resume(only.id, only.host).catch(() => {});
  return actors.flatMap(({ id, host }) => results.get(host)?.get(id) ?? []);
}

const RUN_SETTINGS = 'A fork of an actor accepts only "event" and "input"; received run settings.';
const IDENTICAL = 'Identical: the replay produced every entry of the journal.';

async function checkedEvent(event: unknown, events: EventSchemas | undefined) {
  const read = eventSchema.safeParse(event);
  if (!read.success) throw invalidOption('event', event, read.error, eventSchema);
  return acceptedEvent(read.data, { events, by: userName() });
}

/** Resolves to the result when the actor is open. Its due timers fire, and what was interrupted starts again. */
function resume(id: string, host: InspectedActor['host']): Promise<string> {
  if (host.isOpen(id)) return Promise.resolve('Nothing changed: the actor is already running here.');
  return new Promise((resolve, reject) => {
    host
      .advance(id, { onOpen: () => resolve('Continued.') })
      .then(() => resolve('Nothing changed: the actor has already ended.'), reject);
  });
}

/** The name of the user of this process, who can see the token of the page; undefined if the system does not know it. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
