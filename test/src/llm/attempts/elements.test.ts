import { type } from 'arktype';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { REPLY_FORMS } from '../../../../machines/contracts/model.ts';
import { maxCorrections } from '../../../../src/llm/attempts/retry-policy.ts';
import { listOf } from '../../../../src/llm/schemas/list-of.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { anError } from '../../../support/errors.ts';
import {
  ArkCity,
  City,
  cities,
  describeElement,
  listFrom,
  osaka,
  paris,
  quito,
  readElements,
  streamCharacters,
  wrappedList,
} from '../../../support/structured-outputs.ts';

const lists = { 'z.array': z.array(City), 'listOf(zod)': listOf(City), 'listOf(arktype)': listOf(ArkCity) };

describe('an item', () => {
  for (const [name, schema] of Object.entries(lists))
    for (const replyForm of REPLY_FORMS)
      for (const isWrapped of [true, false])
        it(`[A12] is yielded at its last character: ${name}, ${replyForm}, ${isWrapped ? 'wrapped' : 'bare'}`, async () => {
          const { model, output } = listFrom(schema, { replyForm });
          const { seen, isOver } = readElements(output.elements);
          const text = isWrapped ? wrappedList(cities) : JSON.stringify(cities);
          await streamCharacters(model, text, (said) => {
            const whole = cities.filter((city) => said.includes(JSON.stringify(city)));
            expect(seen, said).toEqual(whole.map((city, index) => describeElement(1, index, city)));
          });
          await model.end();
          expect(seen).toHaveLength(3);
          expect(isOver()).toBe(true);
          expect(await output.value).toEqual(cities);
        });

  it('[A12] is yielded at its closing quote if it is a string', async () => {
    for (const schema of [z.array(z.string()), listOf(type('string'))]) {
      const { model, output } = listFrom(schema);
      const { seen } = readElements(output.elements);
      const texts = ['', 'a "quote"', '[1,2]', 'back\\slash', 'ü😀'];
      await streamCharacters(model, wrappedList(texts), (said) => {
        let from = '{"value":['.length;
        const whole = texts.filter((one) => {
          const at = said.indexOf(JSON.stringify(one), from);
          from = at === -1 ? Number.MAX_SAFE_INTEGER : at + JSON.stringify(one).length;
          return at !== -1;
        });
        expect(seen, said).toEqual(whole.map((one, index) => describeElement(1, index, one)));
      });
      await model.end();
      expect(await output.value).toEqual(texts);
    }
  });

  it('[A12] is yielded once it is complete if it is a number, before the next one starts', async () => {
    const { model, output } = listFrom(z.array(z.number()));
    const { seen } = readElements(output.elements);
    const numbers = [1, 12, -0.5, 1e21, 0];
    await streamCharacters(model, wrappedList(numbers), (said) => {
      const closed = said.slice('{"value":['.length).match(/[,\]]/g)?.length ?? 0;
      const whole = numbers.slice(0, Math.min(closed, numbers.length));
      expect(seen, said).toEqual(whole.map((one, index) => describeElement(1, index, one)));
    });
    await model.end();
    expect(seen).toHaveLength(5);
  });

  it('[A12] may be a list, a boolean, or null, with whitespace in between', async () => {
    const values = [[1, [2]], [], true, null, {}];
    const { model, output } = listFrom(z.array(z.json()));
    const { seen } = readElements(output.elements);
    for (const [index, value] of values.entries()) {
      await model.write(`${index === 0 ? '{ "value" : [' : ' ,'}\n ${JSON.stringify(value)}`);
      await model.write(' ');
      expect(seen).toEqual(values.slice(0, index + 1).map((one, at) => describeElement(1, at, one)));
    }
    await model.write(']\n}');
    await model.end();
    expect(await output.value).toEqual(values);
  });
});

describe('item validation', () => {
  it('[A12] yields the output of the schema', async () => {
    const schema = z.array(z.object({ day: z.string().transform((text) => text.length), n: z.number().default(7) }));
    const { model, output } = listFrom(schema);
    const { seen } = readElements(output.elements);
    await model.write('{"value":[{"day":"Monday"}');
    expect(seen).toEqual([describeElement(1, 0, { day: 6, n: 7 })]);
    await model.write(']}');
    await model.end();
    expect(await output.value).toEqual([{ day: 6, n: 7 }]);
  });

  it('[A12] withholds an invalid item and all after it until the attempt has failed', async () => {
    const { model, output } = listFrom(z.array(City));
    const { seen } = readElements(output.elements);
    await model.write(wrappedList([osaka, { ...quito, size: -1 }, paris]));
    expect(seen).toEqual([describeElement(1, 0, osaka)]);
    await model.end();
    expect(seen).toEqual([describeElement(1, 0, osaka), '1:reset']);
    await model.write(wrappedList([paris]));
    expect(seen.at(-1)).toBe(describeElement(2, 0, paris));
    await model.end();
    expect(await output.value).toEqual([paris]);
  });

  it('[A12] treats a throwing validation as a failure', async () => {
    const schema = z.array(
      z.string().transform((text) => {
        if (text === 'b') throw new Error('not b');
        return text;
      }),
    );
    const { model, output } = listFrom(schema, { policy: maxCorrections(0) });
    const { seen, error } = readElements(output.elements);
    await model.write(wrappedList(['a', 'b', 'c']));
    expect(seen).toEqual([describeElement(1, 0, 'a')]);
    await model.end();
    expect(seen.at(-1)).toBe('1:reset');
    expect(error()).toMatchObject({ code: 'attempts_exhausted', failure: { stage: 'transformation' } });
  });

  it('[A8] voids valid items when the whole list is invalid', async () => {
    const { model, output } = listFrom(z.array(City).min(2));
    const { seen } = readElements(output.elements);
    await model.write(wrappedList([osaka]));
    await model.end();
    expect(seen).toEqual([describeElement(1, 0, osaka), '1:reset']);
    await model.write(wrappedList([osaka, quito]));
    await model.end();
    expect(seen.slice(2)).toEqual([describeElement(2, 0, osaka), describeElement(2, 1, quito)]);
  });
});

describe('items of an invalid list', () => {
  const lima = { name: 'Lima', size: 10 };
  const replies = {
    'a list in prose that breaks': `As [${JSON.stringify(lima)}, sic]: ${wrappedList([osaka])}`,
    'a member that is given twice': `{"value":[${JSON.stringify(lima)}],"value":[${JSON.stringify(osaka)}]}`,
  };
  for (const [name, reply] of Object.entries(replies))
    it(`[A8] [A12] are voided: ${name}`, async () => {
      const { model, output } = listFrom(z.array(City));
      const { seen } = readElements(output.elements);
      await streamCharacters(model, reply, () => {});
      await model.end();
      expect(await output.value).toEqual([osaka]);
      expect(seen.slice(seen.findLastIndex((one) => one.endsWith('reset')) + 1)).toEqual([
        describeElement(1, 0, osaka),
      ]);
    });
});

describe('an asynchronous item schema', () => {
  /** A schema that validates names when the test says so. */
  function slowNames() {
    const checks = new Map<string, (fits: boolean) => void>();
    const schema = z.array(
      z.string().refine((name) => new Promise<boolean>((resolve) => void checks.set(name, resolve))),
    );
    const check = async (name: string, fits: boolean): Promise<void> => {
      checks.get(name)?.(fits);
      checks.delete(name);
      await settle(2);
    };
    return { schema, checks, check };
  }

  it('[A12] yields items in order regardless of completion order', async () => {
    const { schema, check } = slowNames();
    const { model, output } = listFrom(schema);
    const { seen } = readElements(output.elements);
    await model.write('{"value":["a","b","c"');
    await check('b', true);
    expect(seen).toEqual([]);
    await check('a', true);
    expect(seen).toEqual([describeElement(1, 0, 'a'), describeElement(1, 1, 'b')]);
    await check('c', true);
    expect(seen).toHaveLength(3);
  });

  it('[A8] yields nothing from an attempt after its reset', async () => {
    const { schema, checks, check } = slowNames();
    const { model, output } = listFrom(schema);
    const { seen } = readElements(output.elements);
    await model.write('{"value":["old","older","ol');
    const [old, older] = ['old', 'older'].map((name) => checks.get(name));
    await model.end();
    expect(seen).toEqual(['1:reset']);
    await model.write('{"value":["new"');
    old?.(true);
    older?.(true);
    await settle(2);
    expect(seen).toEqual(['1:reset']);
    await check('new', true);
    expect(seen).toEqual(['1:reset', describeElement(2, 0, 'new')]);
  });

  it('[A12] is awaited: every item is yielded once before the end', async () => {
    const { schema, checks, check } = slowNames();
    const { model, output } = listFrom(schema);
    const { seen, isOver } = readElements(output.elements);
    await model.write('{"value":["a","b"]}');
    await check('a', true);
    await model.end();
    for (const name of ['a', 'b', 'a', 'b']) if (checks.has(name)) await check(name, true);
    await settle(2);
    expect(seen).toEqual([describeElement(1, 0, 'a'), describeElement(1, 1, 'b')]);
    expect(isOver()).toBe(true);
    expect(await output.value).toEqual(['a', 'b']);
  });
});

it('a schema that is not a list has no elements: fails with invalid_option before any call', () => {
  for (const schema of [City, z.tuple([z.string()])]) {
    const { model, output } = listFrom<typeof schema>(schema);
    expect(() => output.elements).toThrow(anError('invalid_option', 'expected an array schema; use value'));
    expect(model.calls()).toBe(0);
  }
});
