import { generateText } from 'ai-sdk-7';
import { model } from '../ai-sdk-model.mjs';

const write = async (prompt) => (await generateText({ model, prompt })).text;

export async function summarize(texts) {
  const notes = await Promise.all(texts.map((text) => write(`Summarize in one sentence:\n${text}`).catch(() => null)));
  const found = notes.filter((note) => note !== null);
  if (found.length === 0) return { notes, summary: null };
  return { notes, summary: await write(`Combine:\n${found.join(' ')}`).catch(() => null) };
}

export const run = summarize;
