import { useState } from 'preact/hooks';
import { grouped, visible } from '../../shown/text.ts';

const SHORT_CHARS = 280;
/** No more of one text is ever drawn. */
const LONGEST_CHARS = 200_000;

/** A text as it is, cut where it is long, and shown whole when that is asked for. */
export function LongText({ text, struck = false }: { readonly text: string; readonly struck?: boolean }) {
  const [whole, setWhole] = useState(false);
  const isLong = text.length > SHORT_CHARS;
  const chars = whole ? LONGEST_CHARS : SHORT_CHARS;
  const shown = visible(isLong ? text.slice(0, chars).replace(/[\uD800-\uDBFF]$/u, '') : text);
  return (
    <div class="long-text">
      {struck ? <s class="told">{shown}</s> : <span class="told">{shown}</span>}
      {text.length > chars && '…'}
      {isLong && (
        <button type="button" class="quiet" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'show less' : `show all ${grouped(text.length)} characters`}
        </button>
      )}
      {whole && text.length > LONGEST_CHARS && (
        <span class="muted"> The first {grouped(LONGEST_CHARS)} characters are shown.</span>
      )}
    </div>
  );
}
