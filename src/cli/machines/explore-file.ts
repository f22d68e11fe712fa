import type { AnyMachineSnapshot } from 'xstate';
import { type ActorOutcome, done, fails, sends } from '../../testing/exploration/occurrences.ts';
import { type ExploredModule, exploreModule } from '../explore-module.ts';
import { type ChartModule, loadChartModule } from '../load-chart-module.ts';
import type { ExploringInput } from './tool-schemas.ts';

export interface ExploredFile extends ExploredModule {
  readonly chart: ChartModule;
}

/** Loads the machine of a file, and explores it. The input of the call replaces what the module exports. */
export async function exploreFile({
  file,
  ...input
}: { readonly file: string } & ExploringInput): Promise<ExploredFile> {
  const module = await loadChartModule(file, []);
  const chart = { ...module, ...optionsOf(input), outcomes: { ...module.outcomes, ...outcomesOf(input) } };
  return { chart, ...exploreModule(chart) };
}

function optionsOf({ events, inputs, abstraction, limit, depth }: ExploringInput): Partial<ChartModule> {
  return {
    ...(events && { events }),
    ...(inputs && { inputs }),
    ...(abstraction && { abstraction: fieldsOf(abstraction) }),
    ...(limit && { limit }),
    ...(depth !== undefined && { depth }),
  };
}

const fieldsOf =
  (fields: readonly string[]) =>
  ({ context }: AnyMachineSnapshot): unknown =>
    fields.map((field) => fieldOf(context, field) ?? null);

/** Returns a member by its path, such as `cart.total`. */
export const fieldOf = (context: unknown, field: string): unknown =>
  field.split('.').reduce<unknown>((value, key) => Object(value)[key], context);

const outcomesOf = ({ outcomes = {} }: ExploringInput): ChartModule['outcomes'] =>
  Object.fromEntries(Object.entries(outcomes).map(([name, all]) => [name, all.map(outcomeOf)]));

type GivenOutcome = NonNullable<ExploringInput['outcomes']>[string][number];

/** Names an outcome with a value by that value, so that paths tell two of them apart. */
export function outcomeOf(given: GivenOutcome): ActorOutcome {
  if ('sends' in given) return sends(given.sends);
  if ('fails' in given) return fails(errorOf(given.fails), nameOf('error', given.fails));
  return done(given.done, nameOf('done', given.done));
}

const MAX_NAME_CHARS = 60;

function nameOf(kind: string, value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text === '' || text === 'null' || text.length > MAX_NAME_CHARS ? kind : `${kind} ${text}`;
}

/** A text is the message of an error. */
const errorOf = (value: unknown): unknown => (typeof value === 'string' ? new Error(value) : value);
