import { formatScore } from '../../fold/format.ts';
import type { DecidingNumber } from '../../fold/what-if.ts';

interface NumberSliderProps {
  readonly number: DecidingNumber;
  readonly value: number;
  readonly onChange: (value: number) => void;
}

/** A slider with its number, and a mark at the value that the decision compared. */
export function NumberSlider({ number, value, onChange }: NumberSliderProps) {
  const { title, compared, min, max, step } = number;
  const reached = compared === null ? undefined : `reached ${formatScore(compared)}`;
  const range = { min, max, step, value, 'aria-label': title };
  return (
    <div class="number-slider">
      <span>{title}</span>
      <span class="scale">
        <input
          type="range"
          tabIndex={-1}
          {...range}
          aria-description={reached}
          onInput={({ currentTarget }) => onChange(Number(currentTarget.value))}
        />
        {compared !== null && <i style={{ '--at': Math.max(0, (compared - min) / (max - min)) }} title={reached} />}
      </span>
      <input
        type="number"
        {...range}
        onInput={({ currentTarget: { value: typed, valueAsNumber } }) => {
          if (typed !== '' && valueAsNumber >= min && valueAsNumber <= max) onChange(valueAsNumber);
        }}
      />
    </div>
  );
}
