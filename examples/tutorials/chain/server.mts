import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { chain } from './chain.mts';

const app = new Hono();
app.get('/ask', async (context) => {
  const request = context.req.query('q') ?? '';
  if (request === '') return context.json({ error: 'Expected a question: /ask?q=…' }, 400);
  const { answerText, status, confidence, reasons, sources } = await chain.run({ request }).answer;
  return context.json({
    answerText,
    status,
    confidence,
    reasons: reasons.map(({ message }) => message),
    sources: sources.map(({ path, startLine }) => `${path}:${startLine}`),
  });
});

const { PORT = '3000' } = process.env;
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`);
});
