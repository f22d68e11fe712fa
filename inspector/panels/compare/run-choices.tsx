import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { comparedWith, letterOf } from '../../ui-state/compared.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { runName } from '../../ui-state/run-name.ts';
import { shortly } from '../../ui-state/text.ts';

interface RunChoicesProps {
  readonly inspector: Inspector;
  readonly view: RunView;
  readonly others: readonly InspectedRun[];
}

/** Which runs stand beside the chosen one. Those that were asked the same come first. */
export function RunChoices({ inspector, view: { run }, others }: RunChoicesProps) {
  const rest = inspector.runs.value.filter(({ runId, kind }) => runId !== run.runId && kind === run.kind);
  const alike = rest.filter(({ title }) => title === run.title);
  const groups = [
    { name: 'The same question', runs: alike },
    { name: 'Other questions', runs: rest.filter((other) => !alike.includes(other)) },
  ];

  function put(place: number, runId: string): void {
    const ids = others.map((other) => other.runId);
    if (runId === '') ids.splice(place, 1);
    else ids[place] = runId;
    if (runId !== '') inspector.follow(runId);
    comparedWith.value = [...new Set(ids)];
  }

  return (
    <div class="compare-choices">
      <p>
        <b class="letter">A</b> {shortly(run.title, 60) || run.runId}
      </p>
      {[0, 1].slice(0, others.length + 1).map((place) => (
        <label key={place}>
          <b class="letter">{letterOf(place + 1)}</b>
          <span class="unseen">{place === 0 ? 'Second run' : 'Third run'}</span>
          <select value={others[place]?.runId ?? ''} onChange={({ currentTarget }) => put(place, currentTarget.value)}>
            <option value="">{place === 0 ? 'Choose a run…' : 'No third run'}</option>
            {groups.map(
              ({ name, runs }) =>
                runs.length > 0 && (
                  <optgroup key={name} label={name}>
                    {runs.map((other) => (
                      <option
                        key={other.runId}
                        value={other.runId}
                        disabled={others.some(({ runId }, at) => runId === other.runId && at !== place)}
                      >
                        {runName(other)}
                      </option>
                    ))}
                  </optgroup>
                ),
            )}
          </select>
        </label>
      ))}
    </div>
  );
}
