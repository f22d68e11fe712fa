import { createPassageIndex, type PartialUpdate, type PostChainOptions } from 'postchain';
import { model } from './model.ts';
import { notes } from './notes.ts';

/** What the chain of this page is made of: all of it runs in the browser. */
export const options: PostChainOptions = { model, documents: createPassageIndex(notes) };

/** The text of a reply under way, whatever it is a reply to. */
export function writingOf({ task, value }: PartialUpdate): string {
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
