import { markedParts } from '../fold/origins.ts';

export const Marked = ({ text, phrase }: { readonly text: string; readonly phrase: string }) => (
  <>
    {markedParts(text, phrase).map((part, nth) =>
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order
      part.isMatch ? <mark key={nth}>{part.text}</mark> : part.text,
    )}
  </>
);
