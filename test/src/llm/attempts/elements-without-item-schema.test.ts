import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ElementUpdate } from '../../../../src/llm/attempts/updates.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { City, describeElement, listFrom, osaka, quito, readElements } from '../../../support/structured-outputs.ts';

const elementsOf = (output: object): AsyncIterable<ElementUpdate> =>
  (output as { readonly elements: AsyncIterable<ElementUpdate> }).elements;

describe('a list whose schema does not expose its item schema', () => {
  it.each([
    ['arktype', type({ name: 'string', size: 'number.integer > 0' }).array()],
    ['valibot', toStandardJsonSchema(v.array(v.object({ name: v.string(), size: v.number() })))],
    ['zod, transformed', z.array(City).transform((list) => list)],
  ] as const)('[A12] is validated one item at a time: %s', async (_, schema) => {
    const { model, output } = listFrom(schema as typeof listSchema);
    const { seen, isOver } = readElements(elementsOf(output));
    await model.write(`{"value":[${JSON.stringify(osaka)}`);
    await settle(3);
    expect(seen).toEqual([describeElement(1, 0, osaka)]);
    await model.write(`,${JSON.stringify(quito)}]}`);
    await model.end();
    await settle(3);
    expect(seen).toEqual([describeElement(1, 0, osaka), describeElement(1, 1, quito)]);
    expect(isOver()).toBe(true);
  });

  it('[A12] yields all items at the end if it requires more than one', async () => {
    const schema = toStandardJsonSchema(v.pipe(v.array(v.string()), v.minLength(2)));
    const { model, output } = listFrom(schema);
    const { seen } = readElements(elementsOf(output));
    await model.write('{"value":["a","b"');
    await settle(3);
    expect(seen).toEqual([]);
    await model.write(']}');
    await model.end();
    await settle(3);
    expect(seen).toEqual([describeElement(1, 0, 'a'), describeElement(1, 1, 'b')]);
  });

  it('[A8] voids the earlier items of a repeated key, because JSON.parse keeps the last one', async () => {
    for (const [text, wanted] of [
      [
        '{"value":[1,2],"value":[3]}',
        [describeElement(1, 0, 1), describeElement(1, 1, 2), '1:reset', describeElement(1, 0, 3)],
      ],
      ['{"value":[1,2],"value":[]}', [describeElement(1, 0, 1), describeElement(1, 1, 2), '1:reset']],
    ] as const) {
      const { model, output } = listFrom(z.array(z.int()));
      const { seen } = readElements(elementsOf(output));
      for (const piece of text.split(/(?=,"value")/)) {
        await model.write(piece);
        await settle(2);
      }
      await model.end();
      await settle(2);
      expect(seen).toEqual(wanted);
      expect(await output.value).toEqual(JSON.parse(text).value);
    }
  });

  it('yields nothing if the schema does not produce a list', async () => {
    const { model, output } = listFrom(z.array(City).transform((list) => list.length));
    const { seen, isOver } = readElements(elementsOf(output));
    await model.write(`{"value":[${JSON.stringify(osaka)}]}`);
    await model.end();
    await settle(3);
    expect(seen).toEqual([]);
    expect(isOver()).toBe(true);
    expect(await output.value).toBe(1);
  });
});

const listSchema = z.array(City);
