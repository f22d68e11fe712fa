import type { Phase } from '../../../machines/contracts/phase.ts';

/** A phase by its name, with a mark in its colour. */
export function PhaseName({ phase }: { readonly phase: Phase }) {
  return (
    <span class="phase-name">
      <span class="dot" aria-hidden="true" style={{ background: `var(--phase-${phase}, var(--accent))` }} />
      {phase}
    </span>
  );
}
