import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Draft, namePath, readDraft, rowsPath } from '../../../../inspector/panels/act/draft.ts';
import { type Field, fieldOf } from '../../../../inspector/panels/act/schema-fields.ts';
import { chainEventSchema } from '../../../../machines/contracts/events.ts';
import { limitsSchema, thresholdsSchema } from '../../../../machines/contracts/limits.ts';

const fields = new Map(
  chainEventSchema.options.map((option) => [option.shape.type.value as string, fieldOf(z.toJSONSchema(option))]),
);
const fieldFor = (type: string): Field => fields.get(type) ?? { kind: 'json' };

/** What somebody would type to say this: the other way round of `readDraft`. */
function typed(field: Field, value: unknown, path = ''): Draft {
  if (value === undefined || field.kind === 'fixed') return {};
  if (field.kind === 'members')
    return Object.assign(
      {},
      ...field.members.map(({ name, field: inside }) =>
        typed(inside, (value as Readonly<Record<string, unknown>>)[name], `${path}/${name}`),
      ),
    );
  if (field.kind === 'record') {
    const rows = Object.entries(value as object);
    return Object.assign(
      { [rowsPath(path)]: String(rows.length) },
      ...rows.map(([name, one], row) => ({
        [namePath(path, row)]: name,
        ...typed(field.value, one, `${path}/${row}`),
      })),
    );
  }
  return { [path]: field.kind === 'json' ? JSON.stringify(value) : String(value) };
}

const words = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== '');
const names = words.filter((text) => text === text.trim() && text !== '__proto__');
const some = (keys: readonly string[]) =>
  fc.dictionary(
    fc.constantFrom(...keys),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    {
      minKeys: 1,
      noNullPrototype: true,
    },
  );

const anEvent = fc.oneof(
  fc.record({ type: fc.constant('run.cancelled'), reason: words }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('run.directed'), phase: words, prompt: words }, { requiredKeys: ['type', 'phase'] }),
  fc.record({ type: fc.constant('run.finished') }),
  fc.record(
    {
      type: fc.constant('run.adjusted'),
      limits: some(Object.keys(limitsSchema.shape)),
      thresholds: some(Object.keys(thresholdsSchema.shape)),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constant('consent.given'),
      choice: words,
      items: fc.dictionary(names, words, { minKeys: 1, noNullPrototype: true }),
      by: fc.constantFrom('user', 'option', 'nobody'),
    },
    { requiredKeys: ['type', 'choice'] },
  ),
);

describe('a form made from the schema of an event', () => {
  it('can say every event of a run, and says it as the run takes it', () => {
    fc.assert(
      fc.property(anEvent, (event) => {
        const { value, problems } = readDraft(fieldFor(event.type), typed(fieldFor(event.type), event));
        expect(problems).toEqual({});
        expect(value).toEqual(event);
        expect(chainEventSchema.parse(value)).toEqual(event);
      }),
    );
  });

  it('leaves out what is optional and empty, and asks for what is not', () => {
    expect(readDraft(fieldFor('run.adjusted'), { '/limits/maxCycles': ' ' }).value).toEqual({ type: 'run.adjusted' });
    const { problems } = readDraft(fieldFor('run.directed'), {});
    expect(problems).toEqual({ '/phase': 'Something is wanted here.' });
  });

  it.each([
    [{ type: 'integer', minimum: 1 }, '0', 'At least 1 is wanted.'],
    [{ type: 'integer' }, '2.5', 'A whole number is wanted.'],
    [{ type: 'number', exclusiveMinimum: 0 }, '0', 'More than 0 is wanted.'],
    [{ type: 'number', maximum: 1 }, '1.5', 'At most 1 is wanted.'],
    [{ type: 'number' }, 'five', '"five" is no number.'],
    [{ type: 'array', items: {} }, '[1', 'This is no JSON. A text stands in quotes: "so".'],
    [{ anyOf: [] }, '', 'Something is wanted here.'],
  ])('says of %j and "%s" what is wrong', (schema, text, problem) => {
    expect(readDraft(fieldOf(schema), { '': text }).problems).toEqual({ '': problem });
  });

  it('takes what it does not know as JSON, and numbers as people write them', () => {
    expect(readDraft(fieldOf({ type: 'array' }), { '': '[1, "a"]' }).value).toEqual([1, 'a']);
    expect(readDraft(fieldOf({ type: 'integer' }), { '': '1,000,000' }).value).toBe(1_000_000);
    expect(readDraft(fieldOf({ type: 'boolean' }), { '': 'false' }).value).toBe(false);
    expect(fieldOf(null)).toEqual({ kind: 'json' });
  });

  it('does not take a name twice, nor a row without one', () => {
    const field = fieldFor('consent.given');
    const draft = typed(field, { choice: 'keep', items: { a: 'keep', b: 'remove' } });
    expect(readDraft(field, { ...draft, '/items/1#name': 'a' }).problems).toEqual({
      '/items/1#name': '"a" stands here twice.',
    });
    expect(readDraft(field, { ...draft, '/items/1#name': '' }).problems).toEqual({
      '/items/1#name': 'A name is wanted here.',
    });
  });
});
