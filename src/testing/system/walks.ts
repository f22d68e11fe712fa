import type { Arbitrary, AsyncCommand } from 'fast-check';
import type { EventObject } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { importByName, loadOptional } from '../../internal/optional-package.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { labelOf, type Occurrence } from '../exploration/occurrences.ts';
import { type FailingRoute, shortestFailure, systemError, TwinRun } from '../exploration/system-route.ts';
import type { StepFailure, SystemDriver } from '../exploration/tested-system.ts';
import type { FastCheck } from './json-arbitrary.ts';
import { payloadsOf } from './payloads.ts';
import type { Payload, WalksOptions } from './system-options.ts';
import type { Tally } from './system-report.ts';

const DEFAULT_COUNT = 100;
const DEFAULT_MAX_STEPS = 50;

type Command = AsyncCommand<TwinRun, TwinRun, true>;

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
  const commands = fc.commands(commandsOf(fc, exploration, payloads), { maxCommands: maxSteps, size: 'max' });
  let isCounting = true;
  let isAborted = false;
  const property = fc.asyncProperty(fc.constantFrom(...exploration.starts), commands, async (start, steps) => {
    if (isAborted) return;
    const run = new TwinRun(exploration, driver, start, isCounting ? tally.take : undefined);
    try {
      await fc.asyncModelRun(async () => {
        requireNone(await run.begin(), run);
        return { model: run, real: run };
      }, steps);
    } catch (error) {
      isCounting = false;
      isAborted = error instanceof Difference && error.failing.failure.isAborted;
      throw error;
    } finally {
      if (isCounting) {
        tally.walks += 1;
        tally.steps += run.steps.length;
      }
    }
  });
  const result = await fc.check(property, { numRuns: count, ...(seed !== undefined && { seed }) });
  if (!result.failed) return result.seed;
  const { errorInstance } = result;
  if (!(errorInstance instanceof Difference)) throw errorInstance;
  const failing = await shortestFailure(exploration, driver, errorInstance.failing);
  const found = `walk ${result.numRuns} of seed ${result.seed}; repeat it with walks: { seed: ${result.seed} }`;
  throw systemError(exploration.machine, failing, found);
}

function requireNone(failure: StepFailure | null, { start, steps }: TwinRun): void {
  if (failure !== null) throw new Difference({ start, steps: [...steps], failure });
}

const commandOf = (step: Occurrence): Command => ({
  check: async (run) => run.possible(step) !== null,
  async run(run) {
    const possible = run.possible(step);
    if (possible !== null) requireNone(await run.take(possible), run);
  },
  toString: () => step.name,
});

/** Returns arbitraries of everything that occurs in an exploration; events with a payload of their own are generated. */
function commandsOf(
  fc: FastCheck,
  exploration: Exploration,
  payloads: Readonly<Partial<Record<string, Payload>>>,
): Arbitrary<Command>[] {
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
      return commandOf({ ...known, event, name: labelOf(event) });
    });
  });
  const fixed = [...steps.values()].filter(
    ({ kind, event }) => kind !== 'sent' || !Object.hasOwn(payloads, event.type),
  );
  return [...fixed.map((step) => fc.constant(commandOf(step))), ...generated];
}
