import { useState } from 'preact/hooks';
import { formatNumber } from '../fold/format.ts';
import { markedParts } from '../fold/origins.ts';
import { revealHidden } from '../fold/text.ts';
import { Toggle } from '../link-button.tsx';

interface LongTextProps {
  readonly text: string;
  readonly chars?: number;
  /** More text will arrive: long text shows its end. */
  readonly open?: boolean;
  readonly quoted?: boolean;
}

const MAX_CHARS = 200_000;
/** The length of the button: hiding less text than this would save no space. */
const LINK_CHARS = 40;

/** Text of a model or a document; long text is cut until the user expands it. */
export function LongText({ text, chars = 420, open = false, quoted = false }: LongTextProps) {
  const [isExpanded, setExpanded] = useState(false);
  const isLong = text.length > chars + (open ? 0 : LINK_CHARS);
  const max = isExpanded || !isLong ? MAX_CHARS : chars;
  const isCut = text.length > max;
  const shown = revealHidden(unpaired(isCut ? (open ? text.slice(-max) : text.slice(0, max)) : text));
  const quote = quoted ? '"' : '';
  const toggle = isLong && (
    <Toggle isOpen={isExpanded} open={setExpanded} more={`show all ${formatNumber(text.length)} characters`} />
  );
  // While text arrives its start is cut; the button is at the start, so that new text does not move it.
  // Cut text is a new element each time, like the caret.
  if (open)
    return (
      <span class="long-text">
        {toggle}
        <span key={isCut ? text.length : 'whole'} class="verbatim streaming">
          {isCut && '… '}
          {shown}
          <Caret after={text.length} />
        </span>
      </span>
    );
  return (
    <span class="long-text">
      <span class="verbatim">{`${quote}${shown}${isCut ? '' : quote}`}</span>
      {isCut && <span class="muted">…</span>}
      {toggle && <> {toggle}</>}
      {isExpanded && isCut && <span class="muted"> Only {formatNumber(MAX_CHARS)} characters are shown.</span>}
    </span>
  );
}

/** Removes half of a surrogate pair at a cut. */
const unpaired = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/gu, '');

/** The caret at the end of arriving text. A new element each time, so that it does not count as a layout shift. */
export const Caret = ({ after }: { readonly after: number }) => <span key={after} class="caret" aria-hidden="true" />;

/** Text with the words of a phrase marked. */
export const Marked = ({ text, phrase }: { readonly text: string; readonly phrase: string }) => (
  <>
    {markedParts(text, phrase).map((part, nth) =>
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order
      part.isMatch ? <mark key={nth}>{part.text}</mark> : part.text,
    )}
  </>
);
