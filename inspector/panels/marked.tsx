import { markedParts } from '../fold/origins.ts';

/** A text in which the words of a phrase are marked. */
export const Marked = ({ text, phrase }: { readonly text: string; readonly phrase: string }) => (
  <>
    {markedParts(text, phrase).map((part, nth) =>
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order
      part.isMatch ? <mark key={nth}>{part.text}</mark> : part.text,
    )}
  </>
);
