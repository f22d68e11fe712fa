import type { ComponentChildren } from 'preact';

interface SectionProps {
  readonly title: string;
  /** Beside the title: a button, or a few words. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of the selected step. */
export function Section({ title, aside, children }: SectionProps) {
  return (
    <section class="stack" aria-label={title}>
      <header class="row">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
