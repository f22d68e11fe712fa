import { generateText, Output } from 'ai-sdk-7';
import * as z from 'zod';
import { model } from '../ai-sdk-model.mjs';

const Critique = z.object({ score: z.int().min(0).max(10), advice: z.string() });
const writing = (task, text, critique) => `${task}\nLast draft: ${text}\nCritique: ${critique.advice}`;
const judging = (task, text) => `Judge this text, 0 to 10.\nThe task: ${task}\nThe text: ${text}`;

export async function optimize(task) {
  let text = '';
  let critique = { score: 0, advice: '' };
  for (let round = 0; round < 3 && critique.score < 8; round += 1) {
    text = (await generateText({ model, prompt: writing(task, text, critique) })).text;
    const output = Output.object({ schema: Critique });
    critique = (await generateText({ model, output, prompt: judging(task, text) })).output;
  }
  return text;
}

export const run = optimize;
