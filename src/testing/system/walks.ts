import type { Arbitrary, Command } from 'fast-check';
import type { EventObject } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { importByName, loadOptional } from '../../internal/optional-package.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { labelOf, type Occurrence } from '../exploration/occurrences.ts';
import {
  type FailingRoute,
  failureOn,
  ModelRun,
  type Route,
  shortestFailure,
  systemError,
  TwinRun,
} from '../exploration/system-route.ts';
import type { SystemDriver } from '../exploration/tested-system.ts';
import type { FastCheck } from './json-arbitrary.ts';
import { payloadsOf } from './payloads.ts';
import type { Payload, WalksOptions } from './system-options.ts';
import type { Tally } from './system-report.ts';

const DEFAULT_COUNT = 100;
const DEFAULT_MAX_STEPS = 50;

/** A walk of the machine alone. */
interface PlannedWalk {
  readonly model: ModelRun;
  readonly steps: Occurrence[];
}

type PlannedStep = Command<PlannedWalk, PlannedWalk>;

/** A difference that a walk has found. */
class Difference extends Error {
  readonly failing: FailingRoute;

  constructor(failing: FailingRoute) {
    super(failing.failure.what);
    this.failing = failing;
  }
}

/**
 * Takes random walks of a system and its model. Resolves to the seed that repeats them; rejects as `testSystem` does, after fast-check has
 * shrunk the walk and its payloads.
 */
export async function walkSystem(
  exploration: Exploration,
  driver: SystemDriver,
  options: WalksOptions,
  tally: Tally,
): Promise<number> {
  requireKnownOptions('walks', options, 'count maxSteps payloads seed');
  const { count = DEFAULT_COUNT, maxSteps = DEFAULT_MAX_STEPS, payloads = {}, seed } = options;
  for (const [name, value] of Object.entries({ count, maxSteps }))
    if (!(Number.isInteger(value) && value > 0))
      throw new PostChainError('invalid_option', `"walks.${name}" must be an integer > 0; received ${value}`);
  const fc = await loadOptional('fast-check', '"walks" of testSystem', () => importByName<FastCheck>('fast-check'));
  const steps = stepsOf(fc, exploration, driver, payloads);
  const commands = fc.commands(steps, { maxCommands: maxSteps, size: 'max' });
  const attempt = attemptsOf(fc, exploration, driver, tally);
  const property = fc.asyncProperty(fc.constantFrom(...exploration.starts), commands, async (start, planned) => {
    const walk: PlannedWalk = { model: new ModelRun(exploration, start), steps: [] };
    fc.modelRun(() => ({ model: walk, real: walk }), planned);
    const failing = await attempt({ start, steps: walk.steps });
    if (failing !== null) throw new Difference(failing);
  });
  const result = await fc.check(property, { numRuns: count, ...(seed !== undefined && { seed }) });
  if (!result.failed) return result.seed;
  const { errorInstance } = result;
  if (!(errorInstance instanceof Difference)) throw errorInstance;
  const failing = await shortestFailure(exploration, driver, errorInstance.failing);
  const found = `walk ${result.numRuns} of seed ${result.seed}; repeat it with walks: { seed: ${result.seed} }`;
  throw systemError(exploration.machine, failing, found);
}

/**
 * Returns a function that does a route on the system. After the first failure, it does not repeat a route that begins with one that has failed,
 * or that has passed: fast-check tries many that differ only in steps that cannot occur.
 */
function attemptsOf(fc: FastCheck, exploration: Exploration, driver: SystemDriver, tally: Tally) {
  const failed = new Map<string, FailingRoute>();
  const passed = new Set<string>();
  let isAborted = false;
  const keyOf = ({ start, steps }: Route): readonly string[] => [
    start.name,
    ...steps.map(({ kind, name, event }) => `${kind} ${name} ${kind === 'sent' ? fc.stringify(event) : ''}`),
  ];
  return async (route: Route): Promise<FailingRoute | null> => {
    const keys = keyOf(route);
    const isFirst = failed.size === 0;
    const known = isFirst ? undefined : keys.map((_, at) => failed.get(keys.slice(0, at + 1).join('\n'))).find(Boolean);
    if (known !== undefined) return known;
    if (isAborted || passed.has(keys.join('\n'))) return null;
    const run = new TwinRun(exploration, driver, route.start, isFirst ? tally.take : undefined);
    const failing = await failureOn(route, run);
    if (isFirst) {
      tally.walks += 1;
      tally.steps += run.steps.length;
    }
    isAborted = failing?.failure.isAborted === true;
    if (failing !== null) failed.set(keyOf(failing).join('\n'), failing);
    else if (!isFirst) passed.add(keys.join('\n'));
    return failing;
  };
}

const plannedStep = (step: Occurrence, driver: SystemDriver): PlannedStep => {
  const possibleIn = ({ model }: Readonly<PlannedWalk>): Occurrence | null => {
    const found = model.possible(step);
    return found === null || driver.missingFor(found) !== null ? null : found;
  };
  return {
    check: (walk) => possibleIn(walk) !== null,
    run(walk) {
      const possible = possibleIn(walk);
      if (possible === null) return;
      walk.model.take(possible);
      walk.steps.push(possible);
    },
    toString: () => step.name,
  };
};

/** Returns arbitraries of everything that occurs in an exploration; events with a payload of their own are generated. */
function stepsOf(
  fc: FastCheck,
  exploration: Exploration,
  driver: SystemDriver,
  payloads: Readonly<Partial<Record<string, Payload>>>,
): Arbitrary<PlannedStep>[] {
  const steps = new Map(
    exploration.edges.map(({ occurrence }) => [`${occurrence.kind} ${occurrence.name}`, occurrence]),
  );
  const sent = [...steps.values()].filter(({ kind }) => kind === 'sent');
  const generated = Object.entries(payloads).map(([type, payload]) => {
    const known = sent.find(({ event }) => event.type === type);
    if (known === undefined)
      throw new PostChainError(
        'invalid_option',
        `"walks.payloads.${type}": the exploration sends no such event; add one to the "events" of explore, which sends ${[...new Set(sent.map(({ event }) => event.type))].join(', ') || 'none'}`,
      );
    return payloadsOf(fc, type, payload).map((value) => {
      const event: EventObject = { ...value, type };
      return plannedStep({ ...known, event, name: labelOf(event) }, driver);
    });
  });
  const fixed = [...steps.values()].filter(
    ({ kind, event }) => kind !== 'sent' || !Object.hasOwn(payloads, event.type),
  );
  return [...fixed.map((step) => fc.constant(plannedStep(step, driver))), ...generated];
}
