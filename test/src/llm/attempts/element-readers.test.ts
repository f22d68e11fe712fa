import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ElementUpdate } from '../../../../src/llm/attempts/updates.ts';
import { listOf } from '../../../../src/llm/schemas/list-of.ts';
import { settle } from '../../../../src/testing/settle.ts';
import {
  ArkCity,
  City,
  cities,
  describeElement,
  describeUpdate,
  listFrom,
  osaka,
  paris,
  quito,
  readElements,
  wrappedList,
} from '../../../support/structured-outputs.ts';

describe('element readers', () => {
  it('[A8] do not receive voided items that they have not read yet', async () => {
    const { model, output } = listFrom(z.array(City));
    const reading = output.elements[Symbol.asyncIterator]();
    const next = async (): Promise<string> => {
      const { done, value } = await reading.next();
      return done ? 'done' : describeUpdate(value);
    };
    const first = next();
    await model.write(wrappedList([osaka, quito, { name: 'Nowhere' }]));
    expect(await first).toBe(describeElement(1, 0, osaka));
    await model.end();
    await model.write(wrappedList([paris, quito]));
    await model.end();
    expect([await next(), await next(), await next(), await next()]).toEqual([
      '1:reset',
      describeElement(2, 0, paris),
      describeElement(2, 1, quito),
      'done',
    ]);
  });

  it('that start late receive all items so far, even after the end', async () => {
    const { model, output } = listFrom(z.array(City));
    const early = readElements(output.elements);
    await model.write('Well: [{"name":"Lima"}]');
    await model.end();
    await model.write(`{"value":[${JSON.stringify(osaka)},${JSON.stringify(quito)}`);
    const late = readElements(output.elements);
    await settle(2);
    expect(late.seen).toEqual([describeElement(2, 0, osaka), describeElement(2, 1, quito)]);
    await model.write(`,${JSON.stringify(paris)}]}`);
    expect(late.seen).toHaveLength(3);
    await model.end();
    const last = readElements(output.elements);
    await settle(2);
    expect(last.seen).toEqual(cities.map((city, index) => describeElement(2, index, city)));
    expect(late.seen).toEqual(last.seen);
    expect(early.seen).toEqual(['1:reset', ...last.seen]);
    expect([early, late, last].every(({ isOver }) => isOver())).toBe(true);
  });

  it('receive every item if the first one starts mid-stream', async () => {
    const { model, output } = listFrom(z.array(City));
    void output.value;
    await model.write(`{"value":[${JSON.stringify(osaka)},`);
    const { seen } = readElements(output.elements);
    await model.write(JSON.stringify(quito));
    await model.write(']}');
    await model.end();
    expect(seen).toEqual([describeElement(1, 0, osaka), describeElement(1, 1, quito)]);
  });

  it('stop the call when the last one leaves, unless the value is awaited', async () => {
    for (const isAwaited of [false, true]) {
      const { model, output } = listFrom(z.array(City));
      const value = isAwaited ? output.value : null;
      const reading = (async () => {
        for await (const _ of output.elements) break;
      })();
      await model.write(`{"value":[${JSON.stringify(osaka)}`);
      await model.write(',');
      await reading;
      await settle(2);
      expect(model.open()).toBe(isAwaited ? 1 : 0);
      if (value === null) continue;
      await model.write(`${JSON.stringify(quito)}]}`);
      await model.end();
      expect(await value).toEqual([osaka, quito]);
    }
  });

  it('cannot change the value by changing an item', async () => {
    for (const schema of [listOf(ArkCity), z.array(City)]) {
      const { model, output } = listFrom<typeof schema>(schema);
      const reading = (async () => {
        for await (const update of output.elements)
          if (update.type === 'element') (update.value as { name: string }).name = 'Poison';
      })();
      await model.write(`{"value":[${JSON.stringify(osaka)},`);
      await model.write(`${JSON.stringify(quito)}]}`);
      await model.end();
      await reading;
      expect(await output.value).toEqual([osaka, quito]);
    }
  });
});

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
