import { useMemo } from 'preact/hooks';
import { attachmentLabel } from '../../../machines/policies/message-parts.ts';
import type { EntryOf } from '../../fold/entry-index.ts';
import { excerpt } from '../../fold/text.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { Section } from '../parts.tsx';

/** A file can contain anything. */
const PICTURE = /^image\/(?:avif|gif|jpeg|png|webp)$/u;
const BASE64 = /^[A-Za-z\d+/]+=*$/u;
const MAX_FILES = 20;

/** The files of the run's request and history. Pictures are shown from the bytes in the journal. */
export function Attached({ view: { log, fold } }: { readonly view: PanelView }) {
  const seqs = fold.entries.of('attachment');
  const files = useMemo(
    () =>
      seqs.slice(0, MAX_FILES).map((seq) => {
        const file = log.entry(seq) as EntryOf<'attachment'>;
        const isPicture = PICTURE.test(file.mediaType) && BASE64.test(file.data);
        return {
          seq,
          label: excerpt(attachmentLabel(file), 120),
          url: isPicture ? `data:${file.mediaType};base64,${file.data}` : null,
        };
      }),
    [log, seqs.length],
  );
  if (files.length === 0) return null;
  return (
    <Section title="Attached">
      {files.map(({ seq, label, url }) => (
        <figure key={seq}>
          {url !== null && <img src={url} alt={label} />}
          <figcaption class="muted verbatim">{label}</figcaption>
        </figure>
      ))}
      {seqs.length > MAX_FILES && <p class="muted">and {seqs.length - MAX_FILES} more</p>}
    </Section>
  );
}
