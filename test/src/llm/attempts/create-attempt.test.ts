import { describe, expect, expectTypeOf, it } from 'vitest';
import { assign, createActor, SimulatedClock, setup, toPromise } from 'xstate';
import * as z from 'zod';
import { createAttempt } from '../../../../src/llm/attempts/create-attempt.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { type CallScript, chunkedReply, neverSettles, partModel } from '../../../support/scripted-models.ts';

const Ticket = z.object({ urgent: z.boolean(), at: z.string().transform((text) => new Date(text)) });
const ticket = { urgent: true, at: '2026-01-02' };

/** A user-defined chart that runs one attempt and keeps its result. */
function desk(...scripts: readonly CallScript[]) {
  const model = partModel(...scripts);
  const clock = new SimulatedClock();
  const partials: unknown[] = [];
  const triage = createAttempt({
    model,
    schema: Ticket,
    system: 'You sort mail.',
    clock,
    onPartial: ({ value }) => void partials.push(structuredClone(value)),
  });
  const machine = setup({
    types: { context: {} as { mail: string; found: unknown } },
    actors: { triage: triage.machine },
  }).createMachine({
    context: { mail: 'Help!', found: null },
    initial: 'reading',
    on: { leave: '.left' },
    states: {
      reading: {
        invoke: {
          id: 'triage',
          src: 'triage',
          input: ({ context }) => triage.input(context.mail),
          onDone: [
            {
              guard: ({ event }) => event.output.ok && event.output.value.urgent,
              target: 'sorted',
              actions: assign({ found: ({ event }) => event.output.ok && event.output.value }),
            },
            { target: 'unsorted', actions: assign({ found: ({ event }) => event.output }) },
          ],
        },
      },
      sorted: { type: 'final' },
      unsorted: { type: 'final' },
      left: {},
    },
  });
  return { model, clock, partials, triage, actor: createActor(machine, { clock }) };
}

describe('the attempt machine in a user-defined chart', () => {
  it('returns its typed and transformed value and emits partials', async () => {
    const { actor, partials, model, triage } = desk(chunkedReply({ ...ticket, urgent: 'very' }), chunkedReply(ticket));
    await toPromise(actor.start());
    expect(actor.getSnapshot().value).toBe('sorted');
    expect(actor.getSnapshot().context.found).toEqual({ urgent: true, at: new Date('2026-01-02') });
    expect(partials.at(-1)).toEqual(ticket);
    expect(model.calls[0]?.turns).toMatchObject([
      { role: 'system', content: expect.stringMatching(/^You sort mail\.\n\nReply with one JSON object/) },
      { role: 'user', content: 'Help!' },
    ]);
    type Output = NonNullable<ReturnType<typeof createActor<typeof triage.machine>>['getSnapshot']>;
    expectTypeOf<Extract<ReturnType<Output>['output'], { ok: true }>['value']>().toEqualTypeOf<{
      urgent: boolean;
      at: Date;
    }>();
  });

  it('[A10] returns a failure as an outcome, never as an error', async () => {
    const { actor } = desk(chunkedReply('no JSON'));
    await toPromise(actor.start());
    expect(actor.getSnapshot().value).toBe('unsorted');
    expect(actor.getSnapshot().context.found).toMatchObject({ ok: false, failure: { stage: 'extraction' } });
  });

  it('is a normal actor: visible in the system and stopped with the state that invokes it', async () => {
    const { actor, model } = desk([neverSettles]);
    actor.start();
    await settle();
    expect(actor.getSnapshot().children['triage']?.getSnapshot().value).toEqual({ calling: 'opening' });
    expect(model.open()).toBe(1);
    actor.send({ type: 'leave' });
    await settle();
    expect(model.open()).toBe(0);
  });

  it('[A4] gives each execution its own id and budget', async () => {
    const { triage } = desk();
    const [a, b] = [triage.input('x'), triage.input('x')];
    expect(a.id).not.toBe(b.id);
    expect(a.policy).toEqual(b.policy);
  });
});
