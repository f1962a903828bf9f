// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// @notice What is known of a text and a schema. Unknown comes first, so that what nobody has decided is unknown.
/// @param Unknown The schema asks for something that is not understood here, or more than the bounds allow.
/// @param Valid The text is JSON and matches the schema.
/// @param Invalid The text is no JSON, or does not match the schema.
enum Verdict {
    Unknown,
    Valid,
    Invalid
}

/// @title JSON Schema, draft 2020-12, on chain
/// @notice Whether a text matches a schema, with three answers. Whatever the schema asks that is not understood here
/// is unknown, and nothing unknown makes a text valid or invalid: not through `not`, `oneOf`, `if` or `contains`
/// either.
///
/// Understood: boolean schemas, `type`, `enum`, `const`, `multipleOf`, `minimum`, `maximum`, `exclusiveMinimum`,
/// `exclusiveMaximum`, `minLength`, `maxLength`, `items`, `prefixItems`, `contains`, `minContains`, `maxContains`,
/// `minItems`, `maxItems`, `uniqueItems`, `properties`, `patternProperties`, `additionalProperties`, `propertyNames`,
/// `required`, `dependentRequired`, `dependentSchemas`, `minProperties`, `maxProperties`, `allOf`, `anyOf`, `oneOf`,
/// `not`, `if`, `then`, `else`, `$ref` to the schema itself, to a JSON pointer or an anchor in it, also behind its own
/// absolute `$id`, and `pattern` and `patternProperties` where the pattern is plain: characters that stand for
/// themselves, with `^` before or `$` after them.
///
/// Unknown: other patterns, other references, `$dynamicRef`, `unevaluatedItems`, `unevaluatedProperties`, another
/// `$schema` than that of the draft, references in a schema with a `$id` below its root, keywords whose value is not
/// what the draft asks for, a schema that is no JSON, and whether `null` is of another type beside OpenAPI's
/// `"nullable": true`. `format` and other keywords that the draft does not have assert nothing.
///
/// Numbers are exact decimals of any length. Strings are measured and compared by code points. Of a name that an
/// object has twice, the last counts. A text that is not UTF-8 is no JSON. Bounds, beyond which all is unknown: texts
/// of 64 KiB, schemas nested 40 deep in what they apply to one another, exponents of 60 digits, divisors of 77.
interface IJsonSchema {
    /// @notice Judges `json` by `schema`, both as texts.
    /// @return verdict What is known.
    /// @return schemaOffset If the verdict is Invalid: the byte of the schema at which the keyword, or the schema
    /// `false`, begins that `json` fails.
    /// @return jsonOffset If the verdict is Invalid: the byte of `json` at which the value begins that fails, or where
    /// `json` is no JSON.
    function validate(
        bytes calldata schema,
        bytes calldata json
    ) external pure returns (Verdict verdict, uint256 schemaOffset, uint256 jsonOffset);
}
