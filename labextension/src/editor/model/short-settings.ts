// Settings of a layer in the few words that its node has room for: 64 · 3×3 · /2.
import { SETTING_FORMS, SPATIAL_SETTING } from '../../api/drawing';
import { Json, LayerSchema } from './graph-data';
import { settingText } from './shape-format';

const SEPARATOR = ' · ';
/** Number of axes in the name of a layer. */
const AXES = /([123])d$/;
const MOST_SIZES = 6;
const FORMS: { readonly [name: string]: string } = SETTING_FORMS;

/** The kernel and the settings that are not the layer's defaults, in the order in which the layer declares them. */
export function shortSettings(
  type: string,
  params: { [key: string]: Json },
  schema?: LayerSchema
): string {
  const properties = schema?.schema.properties ?? {};
  const declared = Object.keys(properties);
  const usual = properties[SPATIAL_SETTING]?.default;
  const settings =
    usual === undefined || usual === null
      ? params
      : { [SPATIAL_SETTING]: usual, ...params };
  const rank = (name: string) => {
    const at = declared.indexOf(name);
    return at < 0 ? declared.length : at;
  };
  return Object.keys(settings)
    .sort((a, b) => rank(a) - rank(b))
    .map(name => shortSetting(type, name, settings[name]))
    .join(SEPARATOR);
}

function shortSetting(type: string, name: string, value: Json): string {
  const word = name.replaceAll('_', ' ');
  if (typeof value === 'boolean') {
    const bare = word.replace(/^use /, '');
    return value ? bare : `no ${bare}`;
  }
  const axes = AXES.exec(type);
  const text =
    name === SPATIAL_SETTING && typeof value === 'number' && axes
      ? textOf(name, Array<Json>(Number(axes[1])).fill(value))
      : textOf(name, value);
  const form = FORMS[name];
  if (form === undefined || value === null) {
    return `${word} ${text}`;
  }
  return form.startsWith('pad') && typeof value === 'string'
    ? text
    : form.replace('{}', () => text);
}

function textOf(name: string, value: Json): string {
  if (value === null) {
    return 'auto';
  }
  const isSizes =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(item => item === null || Number.isInteger(item));
  if (!isSizes) {
    return settingText(value);
  }
  const sizes = value.map((item, at) =>
    item === null ? (name === 'shape' && at === 0 ? 'N' : '?') : String(item)
  );
  return (
    sizes.length > MOST_SIZES ? [...sizes.slice(0, MOST_SIZES), '…'] : sizes
  ).join('×');
}
