// What the field of one parameter gets from its form.
import type { Json, ParamSchema } from '../api/graph';
import type { Translator } from '../ui/translator';

export interface FieldProps {
  id: string;
  name: string;
  param: ParamSchema;
  value: Json | undefined;
  trans: Translator;
  /** Text for a value that is not set; "auto" without it. */
  nothing?: string;
  onChange: (value: Json | undefined) => void;
}
