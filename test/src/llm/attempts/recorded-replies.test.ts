import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { replySchemas } from '../../../../machines/contracts/phase-io.ts';
import { AttemptsExhausted } from '../../../../src/llm/attempts/attempts-exhausted.ts';
import { maxCorrections } from '../../../../src/llm/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';

const score = z.number().min(0).max(1);
const SCHEMAS = {
  ...replySchemas,
  score: z.object({ answer: z.string(), confidence: score }),
  scores: z.object({ items: z.array(z.object({ id: z.string(), score })).max(3) }),
  enum: z.object({ mood: z.enum(['good', 'bad']), stars: z.int().min(1).max(5) }),
  date: z.object({ date: z.iso.date(), email: z.email() }),
  optional: z.object({ name: z.string(), age: z.number().positive().optional(), note: z.string().nullable() }),
  text: z.string().min(5).max(60),
  review: z.object({ approved: z.boolean(), quality: score, comment: z.string() }),
};

/** A raw reply of SmolLM2-135M-Instruct, and what becomes of it: a value, or the code of the failure with the first invalid path. */
interface Recorded {
  readonly schema: keyof typeof SCHEMAS;
  readonly replyForm: 'text' | 'tool-call' | 'json-object';
  readonly reason: 'stop' | 'length';
  readonly text: string;
  readonly outcome: { readonly value: unknown } | { readonly failure: string; readonly path?: string };
}

const recorded: readonly Recorded[] = JSON.parse(readFileSync('test/src/llm/attempts/recorded-replies.json', 'utf8'));

async function outcomeOf({ schema: name, replyForm, reason, text }: Recorded): Promise<Recorded['outcome']> {
  const schema = SCHEMAS[name] as z.ZodType;
  const model = scriptedModel({
    [name]: [{ text, reason, replyForm: replyForm === 'tool-call' ? 'text' : replyForm }],
  });
  const jsonSchema = z.toJSONSchema(schema, { target: 'draft-7' });
  const options = { schema, jsonSchema, name, replyForm, policy: maxCorrections(0) };
  const output = createStructuredOutput({ model, ...options, prompt: 'x' });
  try {
    return { value: await output.value };
  } catch (error) {
    if (!(error instanceof AttemptsExhausted)) throw error;
    const [attempt] = error.attempts;
    const path = attempt?.failure?.issues[0]?.path;
    return { failure: attempt?.failure?.code ?? '', ...(path !== undefined && { path }) };
  }
}

describe('replies of a weak model', () => {
  it.each(recorded)('$schema as $replyForm: $text', async (reply) => {
    expect(await outcomeOf(reply)).toEqual(reply.outcome);
  });

  it('are never believed unless they match the schema', () => {
    for (const { schema, outcome } of recorded)
      if ('value' in outcome) expect(z.safeParse(SCHEMAS[schema] as z.ZodType, outcome.value).success).toBe(true);
    expect(recorded.length).toBeGreaterThanOrEqual(50);
  });
});
