import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createAttempt } from 'postchain';
import { createDurableMachine, memoryJournals } from 'postchain/durable';
import { traceRun } from 'postchain/otel';
import { scriptedModel } from 'postchain/testing';
import { fromPromise, setup } from 'xstate';
import * as z from 'zod';

const model = scriptedModel({ ticket: [{ reply: { urgent: true } }] });
const triage = createAttempt({ model, schema: z.object({ urgent: z.boolean() }), name: 'ticket' });

const support = setup({
  types: { input: {} as { mail: string }, context: {} as { mail: string } },
  actors: { triage: triage.machine, page: fromPromise(async () => 'paged') },
}).createMachine({
  id: 'support',
  context: ({ input }) => input,
  initial: 'reading',
  states: {
    reading: {
      invoke: { src: 'triage', id: 'triage', input: ({ context }) => triage.input(context.mail), onDone: 'paging' },
    },
    paging: { invoke: { src: 'page', onDone: 'done' } },
    done: { type: 'final' },
  },
});

const exporter = new InMemorySpanExporter();
const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('support');

const journals = memoryJournals();
await createDurableMachine(support, { journals }).open('s-1', { input: { mail: 'The shop is down.' } });
await traceRun(journals.follow('s-1'), { tracer, models: [model.id] });

const names = exporter.getFinishedSpans().map(({ name }) => name);
console.log(names.join(', ')); // chat scripted, attempt, page, invoke_workflow support
