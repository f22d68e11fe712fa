import { generateText, Output } from 'ai-sdk-7';
import * as z from 'zod';
import { model } from '../ai-sdk-model.mjs';

const specialists = {
  billing: 'You answer questions about invoices and payments.',
  repairs: 'You help customers to repair their lamps.',
};
const Route = z.object({
  specialist: z
    .enum(['billing', 'repairs'])
    .describe('billing: an invoice or a payment. repairs: something is broken.'),
});

export async function answer(mail) {
  const prompt = `Choose the specialist who answers this mail: ${mail}`;
  const { output } = await generateText({ model, output: Output.object({ schema: Route }), prompt });
  return (await generateText({ model, instructions: specialists[output.specialist], prompt: mail })).text;
}

export const run = answer;
