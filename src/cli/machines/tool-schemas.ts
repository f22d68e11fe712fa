import * as z from 'zod/mini';

const name = z.string();
/** A path longer than this is not read by anyone. */
const MAX_STEPS = 1_000;
const MAX_PATHS = 200;

const file = z
  .string()
  .check(
    z.describe('Path of a module within the project that exports an XState machine; FILE#NAME selects one of several.'),
  );

const outcome = z.union([
  z.strictObject({ done: z.unknown() }),
  z.strictObject({ fails: z.unknown() }),
  z.strictObject({ sends: z.looseObject({ type: name }) }),
]);

const event = z.looseObject({ type: name });

/** How the machine is run. Each replaces the module's export of that name. */
const running = {
  file,
  outcomes: z.optional(
    z
      .record(name, z.array(outcome))
      .check(
        z.describe(
          'What each actor may do, by its name or "*": [{"done": output}, {"fails": "message"}, {"sends": event}]. Default: the export "outcomes", else what the actor declares or the exploration of a child machine finds, else done without an output and a failure.',
        ),
      ),
  ),
  events: z.optional(
    z
      .array(event)
      .check(
        z.describe(
          'The events sent from outside, with payloads. Default: each type that the machine handles and does not raise itself.',
        ),
      ),
  ),
  inputs: z.optional(z.record(name, z.unknown()).check(z.describe('The inputs to start with, by name.'))),
};

/** What bounds an exploration. */
const exploring = {
  ...running,
  abstraction: z.optional(
    z
      .array(name)
      .check(z.describe('Context fields that distinguish states, such as "cart.total". Default: the whole context.')),
  ),
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000), z.describe('Most states. Default: 10,000.'))),
  depth: z.optional(z.int().check(z.minimum(1), z.describe('Most steps from the start. Default: unlimited.'))),
};

const mark = z.union([
  z.strictObject({ event: name }),
  z.strictObject({ state: name }),
  z.strictObject({ actor: name }),
  z.strictObject({ action: name }),
]);
const states = z.array(name).check(z.minLength(1));

const propertySchema = z.discriminatedUnion('property', [
  z.strictObject({ property: z.literal('soundness') }).check(z.describe('The checks of lint.')),
  z
    .strictObject({
      property: z.literal('precedes'),
      first: mark,
      before: mark,
      times: z.optional(z.enum(['once', 'each', 'never'])),
    })
    .check(
      z.describe(
        '"first" happens before "before": once (default), for example an approval before an effect; each: again before each of them; never: "before" does not happen after "first", for example no effect after a denial.',
      ),
    ),
  z
    .strictObject({ property: z.literal('endsWithin'), events: z.int().check(z.minimum(0), z.maximum(10_000)) })
    .check(z.describe('Whatever occurs, the machine ends after at most this number of events.')),
  z
    .strictObject({ property: z.literal('ends') })
    .check(z.describe('The machine always ends, even if no event is sent from outside.')),
  z
    .strictObject({ property: z.literal('eventually'), states })
    .check(z.describe('One of the states is always reached again, even if no event is sent from outside.')),
  z
    .strictObject({ property: z.literal('never'), states })
    .check(z.describe('The states are never active at the same time.')),
  z
    .strictObject({ property: z.literal('until'), states, end: states })
    .check(z.describe('One of "states" is active at every moment until one of "end" is, if it ever is.')),
  z
    .strictObject({ property: z.literal('respond'), states, response: states })
    .check(
      z.describe(
        'Whenever one of "states" is active, one of "response" is active then or later, even if no event is sent from outside.',
      ),
    ),
  z
    .strictObject({ property: z.literal('atMost'), field: name, most: z.number() })
    .check(z.describe('A number in the context is never above a limit.')),
  z
    .strictObject({ property: z.literal('handlesEvents'), mayIgnore: z.optional(z.record(name, z.array(name))) })
    .check(z.describe('No event is ignored, except in the states that mayIgnore lists by event type.')),
]);

export type StatedProperty = z.output<typeof propertySchema>;

const properties = z.optional(
  z
    .array(propertySchema)
    .check(z.maxLength(50), z.describe('Default: soundness, and the properties that the module exports.')),
);

const step = z.union([
  z.string().check(z.describe('As in paths: an event type, "pay: done", "pay: error" or "after 5000 ms".')),
  event,
  z.strictObject({ actor: name, done: z.unknown() }),
  z.strictObject({ actor: name, fails: z.unknown() }),
  z.strictObject({ actor: name, sends: event }),
]);

export type Step = z.output<typeof step>;

const start = z.optional(name.check(z.describe('The name of the input to start with. Default: the first.')));
const path = z.strictObject({ start, steps: z.array(step).check(z.maxLength(MAX_STEPS)) });
const paths = z.optional(z.array(path).check(z.maxLength(MAX_PATHS)));

export type SimulatedPath = z.output<typeof path>;

/** The tools with their descriptions and arguments. */
export const machineTools = {
  lint: {
    title: 'Lint a machine',
    description:
      'Checks a machine for mistakes that need no specification: dead transitions, unreachable states, dead ends, states that cannot reach the end, unhandled errors, endless retries, forgotten timers, missing implementations.',
    input: z.strictObject(exploring),
  },
  explore: {
    title: 'Explore a machine',
    description:
      'Lists the reachable states with the shortest path to each, the transitions between them, and the parts of the chart that nothing reaches.',
    input: z.strictObject(exploring),
  },
  check: {
    title: 'Check properties',
    description:
      'Checks properties of everything that the machine can do. Each that fails has the shortest counterexample, as a path of events and states.',
    input: z.strictObject({ ...exploring, properties }),
  },
  diagram: {
    title: 'Draw a machine',
    description: 'Returns the chart as a Mermaid flowchart.',
    input: z.strictObject({
      file,
      depth: z.optional(z.int().check(z.minimum(1), z.describe('Levels of nested states. Default: all.'))),
    }),
  },
  simulate: {
    title: 'Simulate a machine',
    description:
      'Takes the given steps. No actor or custom action runs: the outcome of an actor is a step, too. Returns, for each step, the state, the context, the accepted events and what may occur next. Each call begins at the start: pass all steps so far.',
    input: z.strictObject({ ...running, start, steps: z.array(step).check(z.maxLength(MAX_STEPS)) }),
  },
  cover: {
    title: 'Measure coverage',
    description:
      'Returns which states, transitions, guard results, actor outcomes and delays a set of paths covers, and short paths that cover the rest. Without paths, those of the whole machine.',
    input: z.strictObject({ ...exploring, paths }),
  },
  mutants: {
    title: 'Test the tests',
    description:
      'Makes one mistake at a time in the chart, such as a dropped transition or a negated guard, and returns which of them the properties, or the states along the paths, do not detect.',
    input: z.strictObject({ ...exploring, properties, paths }),
  },
  replay: {
    title: 'Replay a journal',
    description:
      'Replays the journal file of a durable actor on the machine, without calls or effects: identical, or the first difference and its likely cause.',
    input: z.strictObject({ file, journal: z.string().check(z.describe('Path of the journal file.')) }),
  },
} as const;

export type ToolName = keyof typeof machineTools;
export type ToolInput<Name extends ToolName> = z.output<(typeof machineTools)[Name]['input']>;
export type ExploringInput = Omit<ToolInput<'explore'>, 'file'>;
