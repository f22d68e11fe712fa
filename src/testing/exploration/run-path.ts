import { type AnyActorRef, type AnyMachineSnapshot, createActor, type InspectionEvent, SimulatedClock } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { EvaluatedGuard, InstrumentedStep } from '../structure/instrumented-machine.ts';
import { placeInWords } from '../structure/place-words.ts';
import { applyEvent } from './apply-event.ts';
import type { Exploration } from './exploration.ts';
import { brokenInvariant, type Invariants } from './invariants.ts';
import { type Path, pathThrough } from './paths.ts';
import { differenceOf } from './state-keys.ts';

export interface RunPathOptions {
  readonly invariants?: Invariants;
  /** As `createActor` takes it: for `collectCoverage`. */
  readonly inspect?: (event: InspectionEvent) => void;
}

/**
 * Runs a path for real: an actor is started, its invoked actors end as the path says, delays pass by a clock that is simulated. At every
 * step it must stand where the exploration has it, every guard must have said what it said there, what makes a difference in its context
 * must be the same, and the invariants must hold. Throws `path_failed`, with the shortest path that fails in the same way, what was
 * expected and what there was.
 */
export function runPath(exploration: Exploration, path: Path, options: RunPathOptions = {}): void {
  const failed = failureOf(exploration, path, options);
  if (failed === null) return;
  const edge = path.edges[failed.step - 1];
  const shorter = edge === undefined ? path : pathThrough(exploration, edge);
  const again = shorter.edges.length < failed.step ? failureOf(exploration, shorter, options) : null;
  const [shown, told] = again === null ? [path, failed] : [shorter, again];
  throw new PostChainError('path_failed', `${told.what}, after ${inWords(shown, told.step)}.`);
}

interface Failed {
  /** Steps that were taken, the failing one included. */
  readonly step: number;
  readonly what: string;
}

function failureOf(exploration: Exploration, path: Path, { invariants = {}, inspect }: RunPathOptions): Failed | null {
  const { told } = exploration;
  // A path that failed may have left something untold.
  told.told();
  const actor = createActor(told.machine, {
    input: path.beginning.input,
    clock: new SimulatedClock(),
    logger: () => {},
    ...(inspect && { inspect }),
  } as never);
  // An unhandled error of an actor is what a path may lead to: it is seen in the snapshot.
  actor.subscribe({ error: () => {} });
  try {
    actor.start();
    const wrong = wrongAt(exploration, path.beginning, path.beginning.state, actor, told.told(), invariants);
    if (wrong !== null) return { step: 0, what: wrong };
    for (const [index, edge] of path.edges.entries()) {
      const step = index + 1;
      const missing = applyEvent(actor, edge.occurrence);
      if (missing !== null) return { step, what: missing };
      const what = wrongAt(exploration, edge, edge.to, actor, told.told(), invariants);
      if (what !== null) return { step, what };
    }
    return null;
  } finally {
    actor.stop();
  }
}

function wrongAt(
  exploration: Exploration,
  wanted: InstrumentedStep,
  state: number,
  actor: AnyActorRef,
  got: InstrumentedStep,
  invariants: Invariants,
): string | null {
  const snapshot = actor.getSnapshot() as AnyMachineSnapshot;
  const expected = exploration.states[state];
  const [there, here] = [JSON.stringify(expected?.value), JSON.stringify(snapshot.value)];
  if (there !== here) return `It stands in ${here}, wanted ${there}`;
  const guard = otherVerdict(exploration, wanted.verdicts, got.verdicts);
  if (guard !== null) return guard;
  if (wanted.taken.join() !== got.taken.join())
    return `It took ${placesInWords(exploration, got.taken)}, wanted ${placesInWords(exploration, wanted.taken)}`;
  const other = expected && differenceOf(exploration.keyOf(snapshot), exploration.keyOf(expected.snapshot));
  if (other != null)
    return `An action goes by more than its context and its event, or an abstraction leaves out what decides: in ${here}, ${other}`;
  return brokenInvariant(invariants, snapshot);
}

function otherVerdict(
  exploration: Exploration,
  wanted: readonly EvaluatedGuard[],
  got: readonly EvaluatedGuard[],
): string | null {
  for (const [index, { place, holds }] of wanted.entries()) {
    const said = got[index];
    if (said?.place === place && said.holds === holds) continue;
    const there = placeInWords(exploration.chart, place);
    return said?.place === place
      ? `The guard of ${there} said ${said.holds}, wanted ${holds}`
      : `The guard of ${there} was not asked`;
  }
  return null;
}

const placesInWords = ({ chart }: Exploration, places: readonly number[]): string =>
  places.length === 0 ? 'nothing' : places.map((place) => placeInWords(chart, place)).join('; ');

function inWords({ beginning, edges }: Path, steps: number): string {
  const names = edges.slice(0, steps).map(({ occurrence }) => occurrence.name);
  return [beginning.name || 'its beginning', ...names].join(' → ');
}
