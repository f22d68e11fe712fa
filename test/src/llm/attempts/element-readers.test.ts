import { describe, expect, it } from 'vitest';
import * as z from 'zod';
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
