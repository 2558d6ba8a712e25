// NIST's examples of FIPS 180-4, and lengths around the end of a block.
#include "common/sha256.hh"
#include "tests/check.hh"

using namespace kneepoint;

TEST(sha256_of_nists_examples) {
  EXPECT_EQUAL(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQUAL(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQUAL(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQUAL(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklm"
                      "nopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
               "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQUAL(sha256(std::string(1'000'000, 'a')),
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Further vectors of NIST: messages whose padding just fits into a block, or just does not.
TEST(sha256_of_zeros_around_the_end_of_a_block) {
  EXPECT_EQUAL(sha256(std::string(55, '\0')),
               "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  EXPECT_EQUAL(sha256(std::string(56, '\0')),
               "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
  EXPECT_EQUAL(sha256(std::string(57, '\0')),
               "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
  EXPECT_EQUAL(sha256(std::string(64, '\0')),
               "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
  EXPECT_EQUAL(sha256("\xff\xff"),
               "ca2fd00fa001190744c15c317643ab092e7048ce086a243e2be9437c898de1bb");
}
