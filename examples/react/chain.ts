import { createBareChain, createPassageIndex, type PartialUpdate } from 'postchain';
import { model } from './model.ts';
import { notes } from './notes.ts';

/** This page's chain. All of it runs in the browser. Every phase makes its own call, so that you can watch each of them. */
export const chain = createBareChain({
  model,
  documents: createPassageIndex(notes),
  consent: 'ask',
  profile: 'thorough',
});

/** Returns the text of the reply being streamed, for any task. */
export function writingOf(update: PartialUpdate): string {
  if (update.phases !== undefined) return update.value.answer ?? '';
  const { task, value } = update;
  switch (task) {
    case 'action':
      return value.response ?? '';
    case 'experience':
      return value.summary ?? '';
    case 'intention':
      return value.goal ?? '';
    case 'observation':
      return (value.insights ?? []).join(' ');
    case 'understanding':
      return value.integrated ?? '';
    case 'yield':
      return value.answer ?? '';
    case 'synthesis':
      return value.answerText ?? '';
    default:
      return '';
  }
}
