import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createPostChain } from 'postchain';
import { traceRun } from 'postchain/otel';
import { replies, scriptedModel } from 'postchain/testing';

// In your program, set this up once, with an exporter that sends the spans.
const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));

const busy = { failure: { code: 'rate_limited', retryAfterMs: 10 } };
const model = scriptedModel({ yield: [busy, { ...replies.yield }] }, { otherwise: replies });
const run = createPostChain({ model }).run({ request: 'Which plan fits a team of five?' });
const traced = traceRun(run.events);
console.log((await run.answer).answerText);
await traced;

for (const { name, attributes } of exporter.getFinishedSpans()) {
  console.log(name, attributes['error.type'] ?? ''); // chat scripted rate_limited
}
