import { excerpt } from '../../fold/text.ts';
import type { PanelProps } from '../panel.tsx';

/** What was asked, what came of it, and what went wrong: the first thing that a reader sees. */
export function RunHead({ view }: PanelProps) {
  return (
    <header class="run-head">
      <h1 class="verbatim">{excerpt(view.run.title, 300) || 'Untitled'}</h1>
    </header>
  );
}
