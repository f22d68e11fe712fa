import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface SectionProps {
  readonly title: string;
  /** Beside the title: a button, or a few words. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of the selected step. */
export function Section({ title, aside, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <header class="row">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Copies a text, which is made when the button is pressed. */
export function CopyButton({ what, text }: { readonly what: string; readonly text: () => string }) {
  const [said, say] = useState('');
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => say('copied'),
      () => say('the browser does not allow copying'),
    );
  };
  return (
    <span class="copying">
      <span class="muted" role="status">
        {said}
      </span>{' '}
      <button type="button" onClick={copy}>
        Copy {what}
      </button>
    </span>
  );
}
