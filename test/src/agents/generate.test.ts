import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import * as z from 'zod';
import { type GenerateOptions, generate } from '../../../src/entries/agents.ts';
import {
  always,
  explore,
  type Script,
  type ScriptedModel,
  scriptedModel,
  settle,
} from '../../../src/entries/testing.ts';
import { chartAround, endsOf } from '../../support/agent-charts.ts';

const Ticket = z.object({ urgent: z.boolean(), summary: z.string() });
const triageOf = (script: Script) =>
  generate({ model: scriptedModel(script), schema: Ticket, name: 'ticket', prompt: (mail: string) => `Mail: ${mail}` });

const textOf = (model: ScriptedModel, options: Partial<GenerateOptions<string, StandardSchemaV1<string>>> = {}) =>
  generate({ model, ...options });

describe('generate', () => {
  it('ends with the validated value of the prompt for its input [G1]', async () => {
    const model = scriptedModel({
      ticket: [
        { urgent: true, summary: 'down' },
        { urgent: true, summary: 'down' },
      ],
    });
    const triage = generate({ model, schema: Ticket, name: 'ticket', prompt: (mail: string) => `Mail: ${mail}` });
    const end = await endsOf(() => chartAround(triage), 'Help!');
    expect(end).toMatchObject({ value: 'done', output: { urgent: true, summary: 'down' } });
    expect(model.calls[0]?.turns.at(-1)?.content).toBe('Mail: Help!');
  });

  it('corrects an invalid reply', async () => {
    const script = () => triageOf({ ticket: [{ urgent: 'no' }, { urgent: false, summary: 'x' }] });
    expect(await endsOf(() => chartAround(script()), 'M')).toMatchObject({ value: 'done', output: { urgent: false } });
  });

  it('fails if no reply is valid, and the error has each attempt', async () => {
    const end = await endsOf(
      () => chartAround(triageOf({ ticket: [{ urgent: 1 }, { urgent: 2 }, { urgent: 3 }, { urgent: 4 }] })),
      'M',
    );
    expect(end).toMatchObject({ value: 'failed', code: 'attempts_exhausted' });
    expect(end.message).toContain('No value for "ticket"');
  });

  it('without a schema, asks for text alone and ends with the text of the model, even if that is JSON', async () => {
    for (const output of ['Good morning.', '{"text":"Good morning."}', '[1]']) {
      const model = scriptedModel({ output: always({ text: `<think>Hm</think>\n${output}\n` }) });
      expect(await endsOf(() => chartAround(textOf(model)), 'Greet.')).toMatchObject({ output });
      expect(model.calls[0]).toMatchObject({
        turns: [{ role: 'user', content: 'Greet.' }],
        outputSchema: {},
        replyForm: 'prose',
      });
    }
  });

  it('without a schema, asks for text and ignores `replyForm`', async () => {
    for (const replyForm of ['text', 'tool-call', 'json-object'] as const) {
      const model = scriptedModel({ output: always({ reply: 'Good morning.' }) });
      expect(await endsOf(() => chartAround(textOf(model, { replyForm })), 'Greet.')).toMatchObject({
        output: 'Good morning.',
      });
      expect(model.calls[0]?.replyForm).toBe('prose');
    }
  });

  it('without a schema, corrects an empty or cut reply, repeats a failed call and asks a fallback model for text', async () => {
    const replies = [{ text: '' }, { text: 'Good mor', reason: 'length' }, { failure: { retryable: false } }] as const;
    const model = scriptedModel({ output: replies });
    const other = scriptedModel({ output: [{ text: 'Good morning.' }] });
    const actor = createActor(chartAround(textOf(model, { policy: { fallbackModels: [other] } })), { input: 'Greet.' });
    actor.start();
    await settle();
    expect(actor.getSnapshot().context.output).toBe('Good morning.');
    expect(model.calls[1]?.turns).toMatchObject([
      {
        role: 'user',
        content: expect.stringMatching(/^Greet\.\n\nYour last reply is invalid:\nThe reply is empty; ex/),
      },
    ]);
    expect(model.calls[2]?.turns.slice(1)).toMatchObject([
      { role: 'assistant', content: 'Good mor' },
      { role: 'user', content: expect.stringContaining('expected a shorter text') },
    ]);
    expect(other.calls[0]).toMatchObject({ replyForm: 'prose', outputSchema: {} });
  });

  it('aborts its call when the chart leaves the state', async () => {
    let isAborted = false;
    const model = scriptedModel({ output: [{ hang: true }] });
    const watched: typeof model = {
      ...model,
      stream(request, options) {
        options.signal.addEventListener('abort', () => {
          isAborted = true;
        });
        return model.stream(request, options);
      },
    };
    const actor = createActor(chartAround(generate({ model: watched })), { input: 'x' }).start();
    await settle();
    actor.send({ type: 'LEAVE' });
    expect([actor.getSnapshot().value, isAborted]).toEqual(['left', true]);
  });

  it('gives the value received so far', async () => {
    const values: unknown[] = [];
    const model = scriptedModel({ output: [{ text: 'Good morning.' }] }, { chunkChars: 6 });
    const actor = createActor(chartAround(textOf(model, { onPartial: ({ value }) => values.push(value) })), {
      input: 'x',
    }).start();
    await settle();
    expect(actor.getSnapshot().value).toBe('done');
    expect(values).toEqual(['Good m', 'Good morning', 'Good morning.']);
  });

  it('fails for an input that is not a prompt', async () => {
    const model = () => scriptedModel({ output: [] });
    expect(await endsOf(() => chartAround(generate({ model: model() })), 7)).toMatchObject({ value: 'failed' });
  });

  it('names long examples by what differs between them', () => {
    const schema = z.object({
      flight: z.enum(['the first of two names', 'the second of two names']),
      euros: z.number(),
    });
    const long = z.object({ summary: z.string().min(50), ...schema.shape });
    const { edges } = explore(chartAround(generate({ model: scriptedModel({}), schema: long })), { events: [] });
    const names = edges.flatMap(({ occurrence: { kind, name } }) => (kind === 'done' ? [name.slice(0, 25)] : []));
    expect(names.filter((name) => /flight|euros/u.test(name))).toHaveLength(2);
  });

  it('is explored with each type of a member, including null', () => {
    const find = generate({ model: scriptedModel({}), schema: z.object({ id: z.nullable(z.string()) }) });
    const { edges } = explore(chartAround(find), { events: [], inputs: ['A mail'] });
    const names = edges.map(({ occurrence }) => occurrence.name);
    expect(names).toEqual(expect.arrayContaining(['agent: {"id":"text"}', 'agent: {"id":null}']));
  });

  it('refuses unknown options and schemas without a JSON form before anything starts', () => {
    const model = scriptedModel({ output: [] });
    expect(() => generate({ model, temperature: 1 } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
    expect(() => generate({ model, schema: {} as never })).toThrow(expect.objectContaining({ code: 'invalid_schema' }));
    expect(() => generate({ model, prompt: 'Hi' as never })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});
