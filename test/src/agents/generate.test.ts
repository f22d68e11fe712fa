import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import * as z from 'zod';
import { generate } from '../../../src/entries/agents.ts';
import { explore, type Script, scriptedModel, settle } from '../../../src/entries/testing.ts';
import { chartAround, endsOf } from '../../support/agent-charts.ts';

const Ticket = z.object({ urgent: z.boolean(), summary: z.string() });
const triageOf = (script: Script) =>
  generate({ model: scriptedModel(script), schema: Ticket, name: 'ticket', prompt: (mail: string) => `Mail: ${mail}` });

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

  it('ends with text if it has no schema, also if the model replies in prose', async () => {
    const replies = [{ text: 'Good morning.' }, { reply: { text: 'Good morning.' } }];
    for (const reply of replies) {
      const actor = () => generate({ model: scriptedModel({ output: [reply] }) });
      expect(await endsOf(() => chartAround(actor()), 'Greet.')).toMatchObject({ output: 'Good morning.' });
    }
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
    const model = scriptedModel({ output: [{ text: '{"text":"Good morning."}' }] }, { chunkChars: 6 });
    const actor = createActor(
      chartAround(generate({ model, onPartial: ({ value }) => values.push(JSON.stringify(value)) })),
      { input: 'x' },
    ).start();
    await settle();
    expect(actor.getSnapshot().value).toBe('done');
    expect(values.length).toBeGreaterThan(1);
    expect(values.at(-1)).toBe('{"text":"Good morning."}');
  });

  it('fails for an input that is not a prompt', async () => {
    const model = () => scriptedModel({ output: [] });
    expect(await endsOf(() => chartAround(generate({ model: model() })), 7)).toMatchObject({ value: 'failed' });
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
