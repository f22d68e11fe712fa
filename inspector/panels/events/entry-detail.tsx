import { useState } from 'preact/hooks';
import type { RunView } from '../../ui-state/inspector.ts';
import { shortly } from '../../ui-state/text.ts';
import './entry-detail.css';
import { Icon } from '../icon.tsx';
import { JsonTree } from '../json-tree.tsx';

interface DetailProps {
  readonly view: RunView;
  readonly isShut: boolean;
  readonly onShut: () => void;
}

/** The entry at the cursor, whole. */
export function EntryDetail({ view: { log, at, count }, isShut, onShut }: DetailProps) {
  const [said, say] = useState({ at, text: '' });
  if (count === 0) return null;
  const entry = log.entry(at);
  const copy = (): void => {
    navigator.clipboard.writeText(JSON.stringify(entry, null, 2)).then(
      () => say({ at, text: 'copied' }),
      () => say({ at, text: 'the browser does not let it be copied' }),
    );
  };
  return (
    <section class={isShut ? 'entry-detail shut' : 'entry-detail'} aria-label="Entry at the cursor">
      <header>
        <button type="button" class="fold" aria-expanded={!isShut} onClick={onShut}>
          <Icon name={isShut ? 'shut' : 'open'} /> entry {at} · {shortly(entry.type, 24)}
        </button>
        <span class="muted" role="status">
          {said.at === at ? said.text : ''}
        </span>
        <button type="button" class="copy" onClick={copy}>
          Copy
        </button>
      </header>
      {!isShut && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it
        <div class="whole" tabIndex={0}>
          <JsonTree value={entry} />
        </div>
      )}
    </section>
  );
}
