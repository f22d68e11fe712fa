import { isJsonNode, type JsonNode } from '../internal/schemas/json-node.ts';
import type { JsonSchema } from '../internal/schemas/standard-schema.ts';
import { type Choice, readAlternatives, type Together } from './schema-alternatives.ts';
import { fitsPlainly, hasRequired } from './schema-fit.ts';
import { type Places, placesOf } from './schema-places.ts';

/** A key that a schema does not name, where it stands, and which ones it does. */
export interface ExtraKey {
  readonly path: readonly (string | number)[];
  readonly known: readonly string[];
}

/** How far a value is from an alternative: it fits (0), something within it does not (1), or it is something else altogether (2). */
interface Finding {
  readonly distance: 0 | 1 | 2;
  readonly extra: ExtraKey | null;
}

const FITS: Finding = { distance: 0, extra: null };
const NEAR: Finding = { distance: 1, extra: null };
const FAR: Finding = { distance: 2, extra: null };

/**
 * Finds the first key that a JSON Schema does not name, at any depth, where it names keys and does not allow others by
 * `additionalProperties`: many libraries drop such a key and say nothing, so what a model meant by it is lost. Of a choice, the
 * alternative counts that fits the value best. Linear in the value, whatever the choices in the schema; its depth must be bounded.
 */
export function extraKeyFinder(schema: JsonSchema): (value: unknown) => ExtraKey | null {
  const choiceOf = readAlternatives(schema);
  const places = new Map<Together, Places>();
  const placesIn = (schemas: Together): Places => {
    const known = places.get(schemas) ?? placesOf(schemas, choiceOf);
    places.set(schemas, known);
    return known;
  };
  return (value) => new Search(placesIn).inChoice(value, choiceOf([schema])).extra;
}

class Search {
  readonly #placesIn: (schemas: Together) => Places;
  /** What was found where there is a choice, so that nothing is looked through once for each alternative around it. */
  readonly #found = new Map<Choice, Map<unknown, Finding>>();

  constructor(placesIn: (schemas: Together) => Places) {
    this.#placesIn = placesIn;
  }

  inChoice(value: unknown, choice: Choice): Finding {
    const [only, ...others] = choice.alternatives;
    if (only === undefined) return FAR;
    if (others.length === 0) return this.#inAlternative(value, only);
    const known = this.#found.get(choice)?.get(value);
    if (known !== undefined) return known;
    const best = bestOf(choice.alternatives, (schemas) => this.#inAlternative(value, schemas));
    if (typeof value === 'object') {
      const found = this.#found.get(choice) ?? new Map<unknown, Finding>();
      this.#found.set(choice, found.set(value, best));
    }
    return best;
  }

  #inAlternative(value: unknown, schemas: Together): Finding {
    for (const schema of schemas) if (!fitsPlainly(schema, value)) return FAR;
    if (Array.isArray(value)) return this.#inItems(value, this.#placesIn(schemas));
    return isJsonNode(value) ? this.#inMembers(value, schemas, this.#placesIn(schemas)) : FITS;
  }

  #inItems(items: readonly unknown[], places: Places): Finding {
    let finding = FITS;
    for (let index = 0; index < items.length; index += 1)
      finding = joined(finding, this.inChoice(items[index], places.itemAt(index)), index);
    return finding;
  }

  #inMembers(members: JsonNode, schemas: Together, places: Places): Finding {
    let finding = schemas.every((schema) => hasRequired(schema, members)) ? FITS : NEAR;
    for (const key of Object.keys(members)) {
      const choice = places.memberAt(key);
      if (choice !== null) finding = joined(finding, this.inChoice(members[key], choice), key);
      else if (places.isClosed && finding.extra === null)
        finding = { ...finding, extra: { path: [key], known: places.names } };
    }
    return finding;
  }
}

/** What was found so far, and within one more place. */
function joined(soFar: Finding, within: Finding, place: string | number): Finding {
  if (within === FITS) return soFar;
  const extra = soFar.extra ?? (within.extra && { ...within.extra, path: [place, ...within.extra.path] });
  return { distance: soFar.distance === 0 && within.distance === 0 ? 0 : 1, extra };
}

/** The nearest alternative; of those as near, one without an extra key. */
function bestOf(alternatives: readonly Together[], find: (schemas: Together) => Finding): Finding {
  const rank = ({ distance, extra }: Finding): number => 2 * distance + (extra === null ? 0 : 1);
  let best: Finding | null = null;
  for (const alternative of alternatives) {
    const finding = find(alternative);
    if (finding === FITS) return FITS;
    if (best === null || rank(finding) < rank(best)) best = finding;
  }
  return best ?? FAR;
}
