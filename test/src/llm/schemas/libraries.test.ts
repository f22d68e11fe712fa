import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { itemSchemaOf } from '../../../../src/internal/standard-schema.ts';
import { listOf } from '../../../../src/llm/schemas/list-of.ts';
import { outputShape } from '../../../../src/llm/schemas/output-shape.ts';
import { throwing } from '../../../support/errors.ts';

const bigger = (score: number) => score > 3;

/** The same schema in three libraries: a name of at least three letters, and a score above 3 by a rule. */
const libraries = {
  zod: z.object({ name: z.string().min(3), score: z.number().refine(bigger, 'must be above 3') }),
  valibot: toStandardJsonSchema(
    v.object({
      name: v.pipe(v.string(), v.minLength(3)),
      score: v.pipe(v.number(), v.check(bigger, 'must be above 3')),
    }),
  ),
  arktype: type({
    name: 'string >= 3',
    score: type('number').narrow((score, context) => bigger(score) || context.mustBe('above 3')),
  }),
};

describe.each(Object.entries(libraries))('a %s schema', (_, schema) => {
  const shape = outputShape(schema, 'player');

  it('converts to JSON Schema without the rule', () => {
    expect(shape.jsonSchema).toMatchObject({
      type: 'object',
      properties: { name: { type: 'string', minLength: 3 }, score: { type: 'number' } },
      required: ['name', 'score'],
    });
  });

  it('returns a valid value', async () => {
    expect(await shape.validate({ name: 'Ada', score: 4 })).toEqual({ ok: true, value: { name: 'Ada', score: 4 } });
  });

  it('[A10] reports the path of a wrong shape as a schema failure', async () => {
    expect(await shape.validate({ name: 7, score: 4 })).toMatchObject({
      ok: false,
      failure: { stage: 'schema', code: 'invalid_reply', retryable: true, issues: [{ path: 'name' }] },
    });
    expect(await shape.validate({ name: 'Al', score: 4 })).toMatchObject({ failure: { stage: 'schema' } });
  });

  it('[A10] reports the path of a broken rule as a refinement failure', async () => {
    expect(await shape.validate({ name: 'Ada', score: 1 })).toMatchObject({
      ok: false,
      failure: { stage: 'refinement', issues: [{ path: 'score', message: expect.stringContaining('above 3') }] },
    });
  });

  it('[A10] reports a schema failure when both are wrong', async () => {
    expect(await shape.validate({ name: 'A', score: 1 })).toMatchObject({ failure: { stage: 'schema' } });
  });

  it('[A12] builds a list that describes and validates each item with its position', async () => {
    const list = listOf(schema);
    expect(itemSchemaOf(list, { type: 'array' })).toBe(schema);
    const shapeOfList = outputShape(list, 'players');
    const [good, bad] = [
      { name: 'Ada', score: 4 },
      { name: 'Eve', score: 1 },
    ];
    expect(await shapeOfList.validate([good, good])).toEqual({ ok: true, value: [good, good] });
    expect(await shapeOfList.validate([good, bad])).toMatchObject({
      failure: { stage: 'refinement', issues: [{ path: '1.score' }] },
    });
    expect(await shapeOfList.validate(good)).toMatchObject({ failure: { stage: 'schema', issues: [{ path: '' }] } });
  });
});

describe('a transform', () => {
  it('[A10] that throws is a transformation failure in every library', async () => {
    const boom = throwing('no such player');
    const schemas = [z.string().transform(boom), v.pipe(v.string(), v.transform(boom)), type('string').pipe(boom)];
    for (const schema of schemas) {
      const { validate } = outputShape(schema, 'player', { type: 'string' });
      expect(await validate('Ada')).toMatchObject({
        failure: { stage: 'transformation', code: 'transformation_failed', retryable: true },
      });
    }
  });

  it('[A10] that rejects its input is a transformation failure if the library reports it', async () => {
    const schema = v.pipe(
      v.string(),
      v.rawTransform(({ addIssue, NEVER }) => {
        addIssue({ message: 'no such player' });
        return NEVER;
      }),
    );
    expect(await outputShape(schema, 'player', { type: 'string' }).validate('Ada')).toMatchObject({
      failure: { stage: 'transformation', issues: [{ message: 'no such player' }] },
    });
  });

  it('is shown to the model by its input type and returns its output type', async () => {
    const shape = outputShape(z.object({ on: z.string().transform((text) => new Date(text)) }), 'day');
    expect(shape.jsonSchema).toMatchObject({ properties: { on: { type: 'string' } } });
    expect(await shape.validate({ on: '2026-01-02' })).toEqual({ ok: true, value: { on: new Date('2026-01-02') } });
  });

  it('may be asynchronous', async () => {
    const later = z.string().refine(async (text) => text === 'Ada', 'is nobody');
    const { validate } = outputShape(later, 'player', { type: 'string' });
    expect(await validate('Ada')).toEqual({ ok: true, value: 'Ada' });
    expect(await validate('Eve')).toMatchObject({ failure: { stage: 'refinement' } });
  });
});
