import { PHASES, type Phase } from 'postchain';

/** The six phases: the current one is highlighted, earlier ones are marked as passed. */
export function PhaseList({ current, isOver }: { readonly current: Phase | null; readonly isOver: boolean }) {
  const at = current === null ? -1 : PHASES.indexOf(current);
  return (
    <ol className="phases" aria-label="Phases">
      {PHASES.map((phase, index) => (
        <li
          key={phase}
          aria-current={phase === current ? 'step' : undefined}
          className={isOver || index < at ? 'passed' : undefined}
        >
          {phase}
        </li>
      ))}
    </ol>
  );
}
