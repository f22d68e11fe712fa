import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type } from 'arktype';
import { SimulatedClock } from 'xstate';
import { z } from 'zod';
import type { ReplyForm } from '../../../../machines/contracts/model.ts';
import {
  createStructuredOutput,
  type StructuredOutputOptions,
} from '../../../../src/engine/attempts/structured-output.ts';
import type { ElementUpdate } from '../../../../src/engine/attempts/updates.ts';
import { type HandModel, handModel } from './hand-model.ts';

export const City = z.object({ name: z.string(), size: z.int().positive() });
export const osaka = { name: 'Osaka', size: 3 };
export const quito = { name: 'Quito', size: 2 };
export const paris = { name: 'Paris', size: 11 };
export const cities = [osaka, quito, paris];
export const ArkCity = type({ name: 'string', size: 'number.integer > 0' });
/** A list as the reply that a model gives it in. */
export const wrapped = (value: unknown): string => JSON.stringify({ value });

/** A list that is asked for, and the model that says it by hand. */
export function listFrom<Schema extends StandardSchemaV1>(
  schema: Schema,
  more: Partial<StructuredOutputOptions<Schema>> = {},
) {
  const form: ReplyForm = more.replyForm ?? 'text';
  const model = handModel(form);
  const clock = new SimulatedClock();
  const output = createStructuredOutput({ model, schema, prompt: 'Which?', clock, newId: () => 'o1', ...more });
  return { model, clock, output };
}

/** What a reader has seen, in short: `1:0 {"name":…}` for the first element of attempt 1, `1:reset`. */
export interface Watched {
  readonly seen: string[];
  readonly isOver: () => boolean;
  readonly error: () => unknown;
}

/** Reads elements as fast as they come. */
export function watch(elements: AsyncIterable<ElementUpdate>): Watched {
  const seen: string[] = [];
  let isOver = false;
  let error: unknown;
  void (async () => {
    for await (const update of elements) seen.push(short(update));
  })()
    .catch((met: unknown) => {
      error = met;
    })
    .finally(() => {
      isOver = true;
    });
  return { seen, isOver: () => isOver, error: () => error };
}

export const short = (update: ElementUpdate): string =>
  update.type === 'reset'
    ? `${update.attempt}:reset`
    : `${update.attempt}:${update.index} ${JSON.stringify(update.value)}`;

/** As `short` says an element. */
export const item = (attempt: number, index: number, value: unknown): string =>
  `${attempt}:${index} ${JSON.stringify(value)}`;

/** Says a text character by character, and calls `look` after each with what has been said by then. */
export async function sayEach(model: HandModel, text: string, look: (said: string) => void): Promise<void> {
  for (let at = 0; at < text.length; at += 1) {
    await model.say(text.charAt(at));
    look(text.slice(0, at + 1));
  }
}
