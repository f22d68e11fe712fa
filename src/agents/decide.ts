import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  type ActorLogic,
  type ActorSystem,
  type ActorSystemInfo,
  type AnyActorRef,
  type AnyMachineSnapshot,
  assign,
  type EventObject,
  type Snapshot,
  setup,
} from 'xstate';
import * as z from 'zod/mini';
import type { Validation } from '../../machines/contracts/attempt.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { TextTurn } from '../../machines/contracts/model.ts';
import { missingActor } from '../../machines/missing-actor.ts';
import { failureOf } from '../../machines/policies/failures.ts';
import { type DeclaredOutcomes, declareOutcomes } from '../internal/declared-outcomes.ts';
import { isJsonNode, type JsonNode } from '../internal/json-schema.ts';
import { functionSchema, parseOption } from '../internal/options.ts';
import { jsonSchemaOf, requireStandardSchema, schemaFailure } from '../internal/standard-schema.ts';
import { wireName } from '../internal/wire-name.ts';
import { promiseActivity } from '../llm/activities.ts';
import type { AttemptPrompt } from '../llm/attempts/attempt-options.ts';
import type { PromptSpec } from '../llm/request.ts';
import { nestedSchema, outputShape, validate } from '../llm/schemas/output-shape.ts';
import { activeNodes, logicOf, parentOf } from '../xstate/actors.ts';
import { candidatesFor, isMachine } from '../xstate/states.ts';
import {
  exampleOutcomes,
  FAILURES,
  type ModelActor,
  type ModelOptions,
  modelActor,
  type PromptFor,
  turnsFor,
} from './model-actor.ts';
import { rethrow } from './rethrow.ts';

/** The events among which a model may choose, each with the schema of its members besides `type`: an object. */
export type EventChoices = Readonly<Record<string, StandardSchemaV1>>;

/** One of the events of these choices. */
export type ChosenEvent<Choices extends EventChoices> = {
  readonly [Type in keyof Choices & string]: { readonly type: Type } & Members<
    StandardSchemaV1.InferOutput<Choices[Type]>
  >;
}[keyof Choices & string];

/** The members of an event. Those of an empty zod object are typed as \`Record<string, never>\`, which would not allow a \`type\`. */
type Members<Output> = [Output] extends [Readonly<Record<string, never>>] ? unknown : Output;

/** Options of `decide`. */
export interface DecideOptions<Input, Choices extends EventChoices> extends ModelOptions {
  /** Only these events are offered to the model, and of these only those for which the current states have a transition. */
  readonly events: Choices;
  /** Returns the prompt for the actor's input. Without it, the input is the prompt. */
  readonly prompt?: PromptFor<Input>;
}

/** An actor whose output is an event that the chart accepts. */
export type DecideActor<Input, Event> = ActorLogic<Snapshot<Event>, EventObject, Input, ActorSystem<ActorSystemInfo>>;

/**
 * Returns an actor that lets a language model choose the next event of the chart that invokes it. Raise its output. The model sees only
 * those `events` for which the chart's current states have a transition, with the `description` of each transition. An event that it may not
 * choose, whose members do not match the schema, or that no guard lets pass, is corrected like any invalid reply. Without a valid event, the
 * actor fails: with `AttemptsExhausted`, with `budget_exhausted`, or with `no_event` if the states accept none of the events.
 *
 * @throws PostChainError `invalid_option` or `invalid_schema`.
 * @example
 * const route = decide({ model, events: { refund: z.object({ cents: z.int() }), escalate: z.object({}) } });
 * choosing: {
 *   invoke: {
 *     src: 'route',
 *     input: ({ context }) => context.mail,
 *     onDone: { actions: raise(({ event }) => event.output) },
 *     onError: 'failed',
 *   },
 *   on: { refund: 'refunding', escalate: 'waitingForPerson' },
 * }
 */
export function decide<const Choices extends EventChoices, Input = AttemptPrompt>(
  options: DecideOptions<Input, Choices>,
): DecideActor<Input, ChosenEvent<Choices>> {
  const { events, prompt, ...others } = options;
  parseOption(optionsSchema, { events, prompt }, 'options');
  const choices = new Map(Object.entries(events).map(([type, schema]) => [type, choiceOf(type, schema)]));
  const choose = chooser<Input>({ ...others, schema: anyEvent }, choices, prompt);
  const readChoices = promiseActivity<readonly Offer[], null>(async ({ self }) => offersOf(chartOf(self, 2), choices));
  const machine = decideMachine.provide({ actors: { readChoices, choose: choose as never } });
  const outcomes: DeclaredOutcomes = (_, snapshot) => {
    const offered = acceptedTypes(snapshot, choices);
    if (offered.length === 0) return [{ kind: 'error', name: 'no event', error: { code: 'no_event' } }];
    const examples = offered.flatMap((type) => exampleOutcomes(choices.get(type)?.json));
    return [...examples.filter(({ output }) => mayAccept(snapshot, output as EventObject)), ...FAILURES];
  };
  return declareOutcomes(machine, outcomes, [...choices.keys()]) as never;
}

/** The types of the choices for which the states of a snapshot have a transition. */
const acceptedTypes = (snapshot: AnyMachineSnapshot, choices: ReadonlyMap<string, Choice>): readonly string[] =>
  [...choices.keys()].filter((type) => activeNodes(snapshot).some((node) => candidatesFor(node, type).length > 0));

const optionsSchema = z.object({
  events: z
    .record(z.string(), z.unknown())
    .check(z.refine((given) => Object.keys(given).length > 0, 'expected the schemas of one or more events')),
  prompt: z.optional(functionSchema),
});

const anyEvent = z.looseObject({ type: z.string() });

/** An event that the chart accepts, and what its transitions do. */
interface Offer {
  readonly type: string;
  readonly description: string;
}

interface ChooseInput {
  readonly given: unknown;
  readonly offers: readonly Offer[];
}

const decideMachine = setup({
  types: {
    input: {} as unknown,
    context: {} as ChooseInput & { readonly chosen: unknown },
    output: {} as unknown,
  },
  actors: {
    readChoices: missingActor('readChoices') as unknown as ReturnType<typeof promiseActivity<readonly Offer[], null>>,
    choose: missingActor('choose') as unknown as ReturnType<typeof promiseActivity<unknown, ChooseInput>>,
  },
  guards: { isEmpty: (_, { offers }: { readonly offers: readonly Offer[] }) => offers.length === 0 },
  actions: {
    recordOffers: assign((_, { offers }: { readonly offers: readonly Offer[] }) => ({ offers })),
    recordChoice: assign((_, { chosen }: { readonly chosen: unknown }) => ({ chosen })),
    fail: assign(rethrow),
    failWithoutEvent: assign((): object => {
      throw new PostChainError(
        'no_event',
        'decide: expected a state that accepts one of the events; it accepts none. Add a transition, or leave the state.',
      );
    }),
  },
}).createMachine({
  id: 'decide',
  description: 'Lets a model choose the next event of the chart that invokes it.',
  context: ({ input }) => ({ given: input, offers: [], chosen: null }),
  output: ({ context }: { readonly context: { readonly chosen: unknown } }) => context.chosen,
  initial: 'reading',
  states: {
    reading: {
      description: 'Which of the events does the chart accept now?',
      invoke: {
        src: 'readChoices',
        input: null,
        onDone: [
          {
            guard: { type: 'isEmpty', params: ({ event }) => ({ offers: event.output }) },
            actions: 'failWithoutEvent',
          },
          {
            target: 'choosing',
            actions: { type: 'recordOffers', params: ({ event }) => ({ offers: event.output }) },
          },
        ],
        onError: { actions: { type: 'fail', params: ({ event }) => event } },
      },
    },
    choosing: {
      description: 'The model chooses one of them.',
      invoke: {
        src: 'choose',
        input: ({ context: { given, offers } }) => ({ given, offers }),
        onDone: {
          target: 'chosen',
          actions: { type: 'recordChoice', params: ({ event }) => ({ chosen: event.output }) },
        },
        onError: { actions: { type: 'fail', params: ({ event }) => event } },
      },
    },
    chosen: { description: 'An event that the chart accepts.', type: 'final' },
  },
});

interface Choice {
  readonly schema: StandardSchemaV1;
  /** The JSON Schema of the whole event. */
  readonly json: JsonNode;
}

/** Throws `invalid_schema` unless the schema is that of an object. */
function choiceOf(type: string, schema: StandardSchemaV1): Choice {
  requireStandardSchema(schema);
  const members = jsonSchemaOf(schema);
  if (members['type'] !== 'object')
    throw new PostChainError(
      'invalid_schema',
      `events.${type}: expected the schema of an object, whose members are those of the event; received another schema.`,
    );
  const { properties, required } = members;
  const json = {
    ...members,
    properties: { type: { const: type }, ...(isJsonNode(properties) ? properties : {}) },
    required: ['type', ...(Array.isArray(required) ? required : [])],
  };
  return { schema, json };
}

/** The chart that invokes `decide`: `depth` actors above an actor inside it. */
function chartOf(self: AnyActorRef, depth: number): AnyActorRef {
  let actor: AnyActorRef | undefined = self;
  for (let up = 0; up < depth; up += 1) actor = actor && parentOf(actor);
  if (actor !== undefined && isMachine(logicOf(actor))) return actor;
  throw new PostChainError(
    'invalid_option',
    'decide: expected a chart that invokes it; received none. Invoke it in a state.',
  );
}

function offersOf(chart: AnyActorRef, choices: ReadonlyMap<string, Choice>): readonly Offer[] {
  const snapshot = chart.getSnapshot() as AnyMachineSnapshot;
  const nodes = activeNodes(snapshot);
  return acceptedTypes(snapshot, choices).map((type) => {
    const candidates = nodes.flatMap((node) => candidatesFor(node, type));
    const descriptions = [...new Set(candidates.flatMap(({ description }) => description ?? []))];
    return { type, description: descriptions.join(' ') };
  });
}

function chooser<Input>(
  options: ModelOptions & { readonly schema: StandardSchemaV1 },
  choices: ReadonlyMap<string, Choice>,
  prompt: PromptFor<Input>,
): ModelActor<ChooseInput, unknown> {
  const turnsOf = turnsFor(prompt, options);
  const turns = (input: unknown): readonly TextTurn[] => {
    const { given, offers } = input as ChooseInput;
    const asked = turnsOf(given as Input);
    const last = asked.findLastIndex(({ role }) => role === 'user');
    return asked.map((turn, at) =>
      at === last ? { ...turn, content: `${turn.content}\n\n${offersText(offers)}` } : turn,
    );
  };
  return modelActor({
    options,
    others: ['events', 'prompt'],
    specFor:
      (name) =>
      ({ input }, self): PromptSpec => {
        const { offers } = input as ChooseInput;
        const offered = offers.map(({ type }) => type);
        const shape = outputShape(anyEvent, name, eventSchema(offered, choices));
        const check = async (value: unknown): Promise<Validation> =>
          checkedEvent(value, { name, offered, choices, chart: self && chartOf(self, 3) });
        return { schemaName: wireName(name), shape: { ...shape, validate: check }, turns };
      },
  });
}

const offersText = (offers: readonly Offer[]): string =>
  `Choose the next event, one of:\n${offers.map(({ type, description }) => `- ${type}${description && `: ${description}`}`).join('\n')}`;

function eventSchema(types: readonly string[], choices: ReadonlyMap<string, Choice>): JsonNode {
  const schemas = types.map((type) => choices.get(type)?.json ?? {});
  const [only, ...others] = schemas;
  if (only !== undefined && others.length === 0) return only;
  return { anyOf: schemas.map((schema, at) => nestedSchema(`/anyOf/${at}`, schema)) };
}

interface EventRules {
  readonly name: string;
  readonly offered: readonly string[];
  readonly choices: ReadonlyMap<string, Choice>;
  readonly chart: AnyActorRef | undefined;
}

async function checkedEvent(value: unknown, { name, offered, choices, chart }: EventRules): Promise<Validation> {
  const { type, ...members } = isJsonNode(value) ? value : {};
  const choice = typeof type === 'string' && offered.includes(type) ? choices.get(type) : undefined;
  if (choice === undefined) {
    const message = `expected one of: ${offered.join(', ')}`;
    return { ok: false, failure: schemaFailure(name, 'decide', [{ path: ['type'], message }]) };
  }
  const checked = await validate(choice.schema, name, members);
  if (!checked.ok) return checked;
  const event = { ...Object(checked.value), type } as EventObject;
  if (chart === undefined || mayAccept(chart.getSnapshot() as AnyMachineSnapshot, event))
    return { ok: true, value: event };
  const message = `The current state does not accept ${event.type} with these members: no guard of its transitions holds. Choose other members or another event.`;
  return { ok: false, failure: failureOf('refinement', 'invalid_reply', message) };
}

/** Whether a transition of the snapshot takes an event. A guard that throws does not hold. */
function mayAccept(snapshot: AnyMachineSnapshot, event: EventObject): boolean {
  try {
    return snapshot.can(event);
  } catch {
    return false;
  }
}
