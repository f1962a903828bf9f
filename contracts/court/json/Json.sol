// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A JSON value that was read: the memory address of its word on a tape.
type Value is uint256;

using Json for Value global;

/// @title JSON in memory
/// @notice A text that was read is a tape: a word for each value and each name, in the order of the text. The words
/// of what is inside of an array or object follow its own; a name's word comes before that of its value. So a tape
/// needs no more memory than a word per value and name, is written in one pass, and is read backwards where children
/// must come before their parents, all without recursion.
///
/// A word, from its lowest bit: 24 bits address of the text's first byte, 24 bits address after its last byte, 8 bits
/// kind, 8 bits keyword (of a name in a schema). Then, for a name, 192 bits of the hash of what it spells; for an
/// array or object, 24 bits address of the word after all that is inside, 24 bits number of words directly inside, 24
/// bits address of an object's index once somebody has asked for it. Memory of 2^24 bytes would cost more than 500
/// million gas, so that no address is longer.
library Json {
    uint256 internal constant NULL = 1;
    uint256 internal constant BOOLEAN = 2;
    uint256 internal constant NUMBER = 4;
    uint256 internal constant STRING = 8;
    uint256 internal constant ARRAY = 16;
    uint256 internal constant OBJECT = 32;

    /// @dev Set beside the kind of a string that contains escapes.
    uint256 internal constant ESCAPED = 64;

    /// @dev The bits of the kinds alone.
    uint256 internal constant KINDS = 63;

    uint256 internal constant ADDRESS_MASK = 0xffffff;
    uint256 internal constant END_SHIFT = 24;
    uint256 internal constant KIND_SHIFT = 48;
    uint256 internal constant KEYWORD_SHIFT = 56;
    uint256 internal constant NEXT_SHIFT = 64;
    uint256 internal constant COUNT_SHIFT = 88;
    uint256 internal constant INDEX_SHIFT = 112;

    /// @dev The bits of a name's word that hold its hash.
    uint256 internal constant HASH_MASK = ~uint256(type(uint64).max);

    function word(Value value) internal pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := mload(value)
        }
    }

    function setWord(Value value, uint256 newWord) internal pure {
        assembly ("memory-safe") {
            mstore(value, newWord)
        }
    }

    /// @notice Which of the six kinds it is.
    function kind(Value value) internal pure returns (uint256) {
        return (value.word() >> KIND_SHIFT) & KINDS;
    }

    function isKind(Value value, uint256 kinds) internal pure returns (bool) {
        return (value.word() >> KIND_SHIFT) & kinds != 0;
    }

    /// @notice Whether it is the literal `true`.
    function isTrue(Value value) internal pure returns (bool) {
        return value.isKind(BOOLEAN) && firstByte(value) == "t";
    }

    function isFalse(Value value) internal pure returns (bool) {
        return value.isKind(BOOLEAN) && firstByte(value) == "f";
    }

    /// @notice The addresses of its text: of the first byte, and after the last one.
    function text(Value value) internal pure returns (uint256 start, uint256 end) {
        uint256 w = value.word();
        return (w & ADDRESS_MASK, (w >> END_SHIFT) & ADDRESS_MASK);
    }

    function firstByte(Value value) private pure returns (bytes1 result) {
        (uint256 start, ) = value.text();
        assembly ("memory-safe") {
            result := mload(start)
        }
    }

    /// @notice The word after this value and all that is inside of it.
    function next(Value value) internal pure returns (Value) {
        uint256 w = value.word();
        if ((w >> KIND_SHIFT) & (ARRAY | OBJECT) == 0) return Value.wrap(Value.unwrap(value) + 32);
        return Value.wrap((w >> NEXT_SHIFT) & ADDRESS_MASK);
    }

    /// @notice The first word inside of an array or object.
    function first(Value value) internal pure returns (Value) {
        return Value.wrap(Value.unwrap(value) + 32);
    }

    /// @notice How many items an array has.
    function count(Value value) internal pure returns (uint256) {
        return (value.word() >> COUNT_SHIFT) & ADDRESS_MASK;
    }

    /// @notice The value that belongs to a name.
    function valueOf(Value name) internal pure returns (Value) {
        return Value.wrap(Value.unwrap(name) + 32);
    }

    /// @notice Whether a word comes before another one on the same tape.
    function isBefore(Value value, Value other) internal pure returns (bool) {
        return Value.unwrap(value) < Value.unwrap(other);
    }

    /// @notice Memory that nobody has allocated. It begins a word behind where that begins: what measures the coverage
    /// of the tests writes to that word between any two statements.
    function scratch() internal pure returns (uint256 start) {
        assembly ("memory-safe") {
            start := add(mload(0x40), 32)
        }
    }

    /// @notice Whether there is such a value at all.
    function exists(Value value) internal pure returns (bool) {
        return Value.unwrap(value) != 0;
    }
}
